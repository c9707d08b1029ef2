import KindredPostgres
import KindredSchema

/// Changes the rows that requests select, by one statement.
struct ConditionWriter: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// One UPDATE by condition; returns rows only if an object may need them.
    func update(_ query: SelectQuery, of entity: EntityRuntime, _ update: ColumnUpdates) async throws -> Int {
        guard try query.isWrittenByTenant(entity, in: core.runtime.schema) else {
            return try await updateAtOnce(query, of: entity, update)
        }
        return try await core.transaction {
            let query = try await query.lockedByTenant(entity, in: core, orBy: .forNoKeyUpdate)
            return try await updateAtOnce(query, of: entity, update)
        }
    }

    private func updateAtOnce(
        _ given: SelectQuery, of entity: EntityRuntime, _ update: ColumnUpdates
    ) async throws -> Int {
        try await core.write(of: entity, update.columns, isHeld: false) {
            let query = given.lockingInOrder(.forNoKeyUpdate, entity)
            let isCounted = core.runtime.countLimits?.concern(entity, update.columns) == true
            if isCounted { try await noteFormer(query, of: entity, writing: update.columns) }
            let returnsRows = isCounted || core.withMap { $0.holdsRows(of: entity) }
            let statement = try query.updateStatement(
                update, of: entity, in: core.runtime.schema, returnsRows: returnsRows)
            let result = try await core.client.send([statement], entity)[0]
            let count = returnsRows ? result.count : result.affectedRows
            guard count > 0 else { return 0 }
            if isCounted {
                let rows = try EntityRows(result, of: entity)
                let mayHide = entity.filter.map { !$0.columns.isDisjoint(with: update.columns) } ?? false
                for row in 0..<result.count {
                    core.countMove(of: entity, from: nil, to: try rows[row])
                    if mayHide { core.countPaired(try rows[row], of: entity) }
                }
            }
            try applyUpdated(result, of: entity, columns: update.columns)
            return count
        }
    }

    /// Notes the owners that selected rows are about to leave, by one SELECT if an owner has limits.
    private func noteFormer(_ query: SelectQuery, of entity: EntityRuntime, writing columns: [Int]) async throws {
        let links = core.runtime.countLimits?.requiredLinks(of: entity, among: columns) ?? []
        guard !links.isEmpty else { return }
        let query = try await query.lockedByTenant(entity, in: core, orBy: .forUpdate)
        let former = try FormerOwners(links) { selected in
            try query.deletionStatement(
                of: entity, in: core.runtime.schema, selecting: try entity.texts.selectList(of: selected, alias: "t0"))
        }
        guard let former else { return }
        try CountCheck(core).note(former, try await core.client.send([former.statement], entity)[0])
    }

    /// Applies returned rows to their objects, and marks loaded relationships with other rows as stale.
    private func applyUpdated(_ result: QueryResult, of entity: EntityRuntime, columns: [Int]) throws {
        let unheld = try core.take(written: EntityRows(result, of: entity), of: entity)
        // Without returned rows any number may have changed.
        guard result.count == 0 || !unheld.isEmpty else { return }
        if result.count == 0 { core.take(RowGap(.some, of: entity)) }
        var actions = ForeignKeyActions(core)
        try actions.followUnheld(entity, columns)
        if let filter = entity.filter, !filter.columns.isDisjoint(with: columns) {
            return core.take(RowGap(.shown, of: entity))
        }
        for relationship in entity.foreignKeys where relationship.ownColumns.contains(where: columns.contains) {
            // Rows without objects may have joined any of these sets.
            core.take(RowGap(membersIn: relationship.inverse, of: nil))
        }
    }
}
