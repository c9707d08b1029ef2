import KindredPostgres

extension DatabaseContext {
    /// Holders of unique values give them up by NULL before their own change: one UPDATE for each set of columns.
    ///
    /// Returns the objects as they were, with the columns that they are to be given again.
    func release(_ exchanges: [UniqueClaims.Exchange], _ run: SaveRun) async throws -> [DatabaseObject: SavedObject] {
        var leaving: [SavedObject] = []
        var places: [DatabaseObject: Int] = [:]
        for exchange in exchanges {
            let object = exchange.holder
            guard let columns = object.runtime.releasableColumns(of: exchange.check.columns) else { continue }
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
