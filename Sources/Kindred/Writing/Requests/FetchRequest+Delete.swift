import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// Deletes the objects that the request selects, with their delete rules.
    ///
    /// One DELETE where the database's own foreign-key actions do everything that the rules ask for and no hook is
    /// registered; otherwise as `DatabaseContext.delete(_:)`. Order, limit and offset are honoured. ``lock(_:_:)`` can
    /// skip rows locked by other transactions; a row changed meanwhile is checked again, and stays if it no longer
    /// matches. The objects in memory follow. Returns how many of the selected objects were deleted, without rows that
    /// a rule deletes with them: rows that a trigger, rule or policy keeps stay, and their objects too. Throws as that
    /// method does, and then nothing is deleted.
    ///
    /// Where a column marks deleted rows (`{"softDelete": …}`), they are marked, by one UPDATE where no rule or hook
    /// concerns them, or else as by `DatabaseContext.delete(_:)`.
    ///
    /// With `permanently` rows go that would be marked.
    @discardableResult
    public func delete(
        permanently: Bool = false, fileID: String = #fileID, line: Int = #line
    ) async throws -> Int {
        return try await context.client.called(at: fileID, line) {
            guard !entity.entity.isReadOnly, !entity.key.isEmpty else {
                throw entity.notWritable
            }
            guard DeletionRun.current(in: context.core) == nil else {
                let objects = try await all()
                try await context.delete(objects, permanently: permanently)
                return objects.count
            }
            let deleter = Deleter(context.core)
            if !permanently, entity.deletionMark != nil {
                return try await ConditionWriter(context.core).mark(query, of: entity)
            }
            guard deleter.deletionRules([entity]).isLeftToDatabase else {
                return try await context.core.transaction { try await deleter.deleteInTransaction(query, of: entity) }
            }
            let isSplit = try query.isWrittenByTenant(entity, in: context.schema)
            return try await deleter.atOnce(entity, isSplit: isSplit) {
                try await ConditionWriter(context.core).deleteAtOnce(query, of: entity)
            }
        }
    }
}

extension ConditionWriter {
    /// Marks the rows that a request selects as deleted, together with the rows that the rules reach; returns the
    /// number of selected rows.
    func mark(_ query: SelectQuery, of entity: EntityRuntime) async throws -> Int {
        let deleter = Deleter(core)
        let rules = try deleter.markingRules([entity])
        if rules.isLeftToDatabase, entity.distributionColumn == nil {
            let mark = ColumnUpdates(entity: entity, constants: ColumnValues(entity), formulas: [:], marksRows: true)
            return try await update(query, of: entity, mark)
        }
        return try await core.transaction {
            var search = DeletionSearch(core, rules, isLocking: true)
            try await search.add(query, of: entity)
            guard let selected = search.found[entity]?.keys, !selected.isEmpty else { return 0 }
            try await deleter.performMarking(search)
            return selected.count
        }
    }

    /// One DELETE by condition, and the effect of the database's actions on memory.
    func deleteAtOnce(_ given: SelectQuery, of entity: EntityRuntime) async throws -> Int {
        try await core.write {
            var query = given.lockingInOrder(.forUpdate, entity)
            let isSplit = try query.isWrittenByTenant(entity, in: core.runtime.schema)
            if isSplit { query = try await query.lockedByTenant(entity, in: core, orBy: .forUpdate) }
            let columns = Deleter(core).deletionRules([entity]).columns(of: entity)
            let statement = try query.deleteStatement(of: entity, in: core.runtime.schema, returning: columns)
            let result = try await Deleter(core).sendDeletion(statement, entity, among: [entity: []])
            let positions = entity.key.compactMap(columns.firstIndex(of:))
            try core.take(
                (0..<result.count).compactMap { try ObjectKey(result, row: $0, positions) }.lazy
                    .map { RowChange(deleted: $0, of: entity) })
            var actions = ForeignKeyActions(core)
            try actions.follow([
                ForeignKeyActions.Gone(entity: entity) { wanted in
                    Set(try entity.referencedKeys(result, wanted, in: columns))
                }
            ])
            return result.count
        }
    }
}
