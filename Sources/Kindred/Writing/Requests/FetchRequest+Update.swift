import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// Sets new values in the rows that the request selects, all of them or none, and returns their number.
    ///
    /// ```swift
    /// let sold = try await context.fetch("product").where("stock > 0")
    ///     .update(["stock": Formula("stock - %@", 1), "checked": true])
    /// ```
    ///
    /// One UPDATE; order, limit and offset are honoured, and ``lock(_:_:)`` can skip rows locked by other transactions.
    /// A value may be an attribute's, an object for a to-one relationship whose foreign key the rows hold, nil, or a
    /// ``Formula`` over the row's former values. The objects in memory follow, and staged changes stay staged;
    /// `willSave` and validations of the program do not run, since most of the rows have no object.
    ///
    /// Throws `KindredError`, before anything is sent: `.unknownKey`, `.wrongType`, `.missingValue` for nil where a
    /// value is required, `.readOnly` for the key and for generated columns; `.constraintViolation` if the database
    /// refuses.
    @discardableResult
    public func update(_ values: [String: (any PropertyValue)?], fileID: String = #fileID, line: Int = #line)
        async throws -> Int
    {
        return try await context.client.called(at: fileID, line) {
            guard !entity.entity.isReadOnly, !entity.key.isEmpty else {
                throw entity.notWritable
            }
            let update = try RequestUpdate(values, of: entity, in: context)
            guard !update.columns.isEmpty else {
                throw KindredError(
                    .invalidRequest, "An update needs at least one value", entity: entity.name.description)
            }
            return try await context.update(update, query, of: entity)
        }
    }
}

extension DatabaseContext {
    /// One UPDATE by condition; returns rows only if an object may need them.
    fileprivate func update(_ update: RequestUpdate, _ query: SelectQuery, of entity: EntityRuntime) async throws -> Int
    {
        try await write(of: entity, update.columns) {
            let isCounted = core.runtime.countLimits?.concern(entity, update.columns) == true
            if isCounted { try await countFormer(query, of: entity, writing: update.columns) }
            let returnsRows = isCounted || core.withMap { $0.holdsRows(of: entity) }
            let statement = try query.updateStatement(update.written, of: entity, in: schema, returnsRows: returnsRows)
            let result = try await send([statement], entity)[0]
            let count = returnsRows ? result.count : result.affectedRows
            guard count > 0 else { return 0 }
            if isCounted {
                let rows = try EntityRows(result, of: entity)
                for row in 0..<result.count { core.countMove(of: entity, from: nil, to: try rows[row]) }
            }
            try applyUpdated(result, of: entity, columns: update.columns)
            return count
        }
    }

    /// Notes the owners that selected rows are about to leave, by one SELECT if an owner has limits.
    private func countFormer(_ query: SelectQuery, of entity: EntityRuntime, writing columns: [Int]) async throws {
        let links = core.runtime.countLimits?.requiredLinks(of: entity, among: columns) ?? []
        guard !links.isEmpty else { return }
        let selected = Set(links.flatMap(\.columns)).sorted()
        let statement = try query.deletionStatement(
            in: schema, selecting: try entity.selectList(of: selected, alias: "t0"))
        let former = FormerOwners(statement: statement, columns: selected, links: links)
        try count(former, try await send([statement], entity)[0])
    }

    /// Applies returned rows to their objects, and marks loaded relationships with other rows as stale.
    private func applyUpdated(_ result: QueryResult, of entity: EntityRuntime, columns: [Int]) throws {
        var followers = 0
        let rows = try EntityRows(result, of: entity)
        for position in 0..<result.count {
            let row = try rows[position]
            guard let key = try ObjectKey(row, entity.key), let object = follower(entity, key) else { continue }
            try core.apply(row, to: object)
            followers += 1
        }
        // Without returned rows any number may have changed.
        guard result.count == 0 || followers < result.count else { return }
        core.forgetUnheldRows(of: entity)
        for relationship in entity.foreignKeys where relationship.ownColumns.contains(where: columns.contains) {
            // Rows without objects may have joined any of these sets.
            core.noteAllStale(relationship.inverse)
        }
    }

    /// The object of a key, also after it left memory, if its newer row is noted.
    func follower(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        core.withMap { map in
            if let object = map.object(entity, key) { return object }
            guard let newer = map.notes.newerRow(entity, key) else { return nil }
            return map.object(entity, key) {
                core.make(ObjectSeed(core: core, runtime: entity, row: newer.row))
            }.object
        }
    }
}
