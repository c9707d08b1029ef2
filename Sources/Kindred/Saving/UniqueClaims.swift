import KindredPostgres

/// Who gives up which unique values in a save, and who takes them.
struct UniqueClaims {
    private struct Claim: Hashable {
        let entity: Int
        let columns: [Int]
        let key: ObjectKey

        /// nil if one of the values is NULL, which is like no other.
        init?(_ entity: EntityRuntime, _ columns: [Int], _ row: Row) throws {
            guard !columns.isEmpty, let key = try ObjectKey(row, columns) else { return nil }
            (self.entity, self.columns, self.key) = (entity.index, columns, key)
        }
    }

    /// The objects whose stored values others take, with the columns.
    private(set) var exchanged: [(object: DatabaseObject, columns: [Int])] = []

    init(_ objects: [DatabaseObject]) throws {
        var claims: [Claim: DatabaseObject] = [:]
        var holders: [(object: DatabaseObject, claim: Claim)] = []
        for object in objects {
            let entity = object.runtime
            guard !entity.uniqueColumns.isEmpty else { continue }
            let (row, stored) = object.withState { ($0.row, $0.storedRow) }
            for columns in entity.uniqueColumns
            where columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }) {
                if let new = try Claim(entity, columns, row) { claims[new] = object }
                if let old = try Claim(entity, columns, stored) { holders.append((object, old)) }
            }
        }
        exchanged = holders.compactMap { object, claim in
            claims[claim].map { $0 !== object } == true ? (object, claim.columns) : nil
        }
    }

    /// Whether new or changed objects take unique values that objects on their way out have until they are deleted.
    ///
    /// False where one of those objects leaves a deleted one in the same save, by whose delete rules it would be taken along
    /// or stand in the way if it still referred to it.
    static func areHeld(by deleted: [DatabaseObject], against kept: [DatabaseObject]) throws -> Bool {
        if deleted.isEmpty || kept.isEmpty { return false }
        var held = Set<Claim>()
        for object in deleted {
            let (entity, stored) = (object.runtime, object.storedRow)
            for columns in entity.uniqueColumns + [entity.key] {
                try Claim(entity, columns, stored).map { _ = held.insert($0) }
            }
        }
        let takes = try kept.contains { object in
            let entity = object.runtime
            let (row, stored, isNew) = object.withState { ($0.row, $0.storedRow, $0.status == .inserted) }
            return try (entity.uniqueColumns + [entity.key]).contains { columns in
                guard isNew || columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }) else { return false }
                return try Claim(entity, columns, row).map(held.contains) ?? false
            }
        }
        return try takes && !kept.contains { try $0.leaves(deleted) }
    }

    /// What to do where a constraint refused an exchange that could not be taken apart; empty if there was none.
    var advice: String {
        guard exchanged.contains(where: { $0.object.runtime.leavingColumns(of: $0.columns) == nil }) else { return "" }
        return """
            ; objects of this save exchange unique values that may not be NULL: make the constraint DEFERRABLE, or save \
            in two steps
            """
    }
}

extension DatabaseObject {
    /// Whether a staged change makes the object refer to one of some objects no longer.
    fileprivate func leaves(_ others: [DatabaseObject]) throws -> Bool {
        let (row, stored, staged) = withState { state in
            (state.row, state.storedRow, state.status == .inserted ? nil : state.staging?.destinations)
        }
        guard let staged else { return false }
        return try runtime.foreignKeys.contains { relationship in
            guard case .foreignKey(let columns, let referenced) = relationship.link,
                staged[relationship.slot] != nil || columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }),
                let key = try ObjectKey(stored, columns)
            else { return false }
            return try others.contains {
                try $0.runtime.index == relationship.destination && ObjectKey($0.storedRow, referenced) == key
            }
        }
    }
}
