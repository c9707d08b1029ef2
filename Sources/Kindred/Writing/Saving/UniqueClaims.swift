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

    /// The objects whose stored values others take, with the columns, and who takes them.
    private(set) var exchanged: [(object: DatabaseObject, columns: [Int], taker: DatabaseObject)] = []

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
            claims[claim].flatMap { $0 === object ? nil : (object, claim.columns, $0) }
        }
    }

    /// Changed objects that cannot give a value up before their own change, which has to go before a new object takes it.
    var changedBeforeInserts: [DatabaseObject] {
        var seen = Set<DatabaseObject>()
        return exchanged.filter { object, columns, taker in
            taker.isInserted && !object.isInserted && object.runtime.releasableColumns(of: columns) == nil
                && object.withState { $0.staging?.destinations.isEmpty ?? true } && seen.insert(object).inserted
        }.map(\.object)
    }

    /// Those of some deleted objects that have to go first: all of them where a new or changed object takes a key or
    /// another unique value of one.
    ///
    /// Where an object leaves a deleted one in the same save, by whose delete rules it would be taken along or stand in the way
    /// if it still referred to it, only those whose values are taken, and that nobody leaves.
    static func deletedFirst(_ deleted: [DatabaseObject], _ kept: [DatabaseObject]) throws -> [DatabaseObject] {
        if deleted.isEmpty || kept.isEmpty { return [] }
        var held: [Claim: DatabaseObject] = [:]
        for object in deleted {
            let (entity, stored) = (object.runtime, object.storedRow)
            for columns in entity.uniqueColumns + [entity.key] {
                if let claim = try Claim(entity, columns, stored) { held[claim] = object }
            }
        }
        var robbed = Set<DatabaseObject>()
        for object in kept {
            let entity = object.runtime
            let (row, stored, isNew) = object.withState { ($0.row, $0.storedRow, $0.status == .inserted) }
            for columns in entity.uniqueColumns + [entity.key]
            where isNew || columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }) {
                if let holder = try Claim(entity, columns, row).flatMap({ held[$0] }) { robbed.insert(holder) }
            }
        }
        guard !robbed.isEmpty, try kept.contains(where: { try $0.leaves(deleted) }) else {
            return robbed.isEmpty ? [] : deleted
        }
        return try robbed.filter { robbed in try !kept.contains { try $0.leaves([robbed]) } }
    }

    /// What to do where a constraint of an entity refused an exchange that could not be taken apart; empty if there was none.
    func advice(for entity: EntityRuntime) -> String {
        let isStuck = exchanged.contains { object, columns, _ in
            object.runtime === entity && entity.releasableColumns(of: columns) == nil
        }
        guard isStuck else { return "" }
        return """
            ; objects of this save exchange unique values that may not be NULL: make the constraint DEFERRABLE, or save \
            in two steps
            """
    }
}

extension EntityRuntime {
    /// The columns of a unique key that can be NULL until its other value is written; nil if none can.
    func releasableColumns(of columns: [Int]) -> [Int]? {
        if let own = leavingColumns(of: columns) { return own }
        let nullable = columns.filter { column in
            let attribute = entity.attributes[column]
            return !key.contains(column) && !attribute.isNotNull && !attribute.isGenerated
        }
        return nullable.isEmpty ? nil : nullable
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
