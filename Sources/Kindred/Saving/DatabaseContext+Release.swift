import KindredPostgres

extension DatabaseContext {
    /// Unique values change hands in a save: who has to give one up does so before somebody else takes it, so that the
    /// constraint holds after each row.
    ///
    /// One UPDATE to NULL for each set of columns, and none if nobody takes what another object has. Where the columns may
    /// not be NULL nothing can be done: the save succeeds if the constraint is deferrable, and says so if it is not.
    func release(_ objects: [DatabaseObject], _ run: SaveRun) async throws {
        let claims = try UniqueClaims(objects)
        var leaving: [SavedObject] = []
        for (object, columns) in claims.exchanged {
            guard let columns = object.runtime.leavingColumns(of: columns) else { continue }
            leaving.append(SavedObject(object, leaving: columns))
        }
        var isVersioned = false
        for group in SavedGroup.groups(leaving, columns: \.columns) {
            if group.entity.version != nil { isVersioned = true }
            run.add(try group.update(), group.entity, count: group.objects.count, { group.objects.map(\.object) }) {
                [self] result in
                // The objects' own changes follow, and tell whether a row is gone.
                if group.entity.version != nil { try group.applyUpdate(result, in: self, isRelease: true) }
            }
        }
        // Those changes expect the version that this one makes.
        if isVersioned { try await run.flush() }
    }
}

/// Who gives up which unique values in a save, and who takes them.
struct UniqueClaims {
    private struct Claim: Hashable {
        let entity: Int
        let columns: [Int]
        let key: ObjectKey
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
                func claim(_ row: Row) throws -> Claim? {
                    try ObjectKey(row, columns).map { Claim(entity: entity.index, columns: columns, key: $0) }
                }
                if let new = try claim(row) { claims[new] = object }
                if let old = try claim(stored) { holders.append((object, old)) }
            }
        }
        exchanged = holders.compactMap { object, claim in
            claims[claim].map { $0 !== object } == true ? (object, claim.columns) : nil
        }
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
