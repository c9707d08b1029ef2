import KindredPostgres

extension DatabaseContext {
    /// Unique values change hands in a save: who has to give one up does so before somebody else takes it, so that the
    /// constraint holds after each row.
    ///
    /// One UPDATE to NULL for each set of columns, and none if nobody takes what another object has. Where the columns may
    /// not be NULL nothing can be done: the save succeeds if the constraint is deferrable, and says so if it is not.
    ///
    /// Returns the objects as they were, with the columns that they are to be given again.
    func release(_ claims: UniqueClaims, _ run: SaveRun) async throws -> [DatabaseObject: SavedObject] {
        var leaving: [SavedObject] = []
        var places: [DatabaseObject: Int] = [:]
        for (object, columns, _) in claims.exchanged {
            guard let columns = object.runtime.releasableColumns(of: columns) else { continue }
            // A column that stays as it is, such as the room of a lesson that changes its hour, only if no other will do.
            let (row, stored) = object.withState { ($0.row, $0.storedRow) }
            let changing = columns.filter { !row.hasSameBytes(as: stored, at: $0) }
            let released = SavedObject(object, leaving: changing.isEmpty ? columns : changing)
            if let place = places[object] {
                leaving[place] = leaving[place].leaving(released)
            } else {
                places[object] = leaving.count
                leaving.append(released)
            }
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
        return places.mapValues { leaving[$0] }
    }
}
