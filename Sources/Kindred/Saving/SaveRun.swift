import KindredPostgres

/// The statements of one save: collected as long as they do not need each other's answers, and sent together.
final class SaveRun {
    private struct Pending {
        let statement: Statement
        let entity: EntityRuntime
        let objects: [DatabaseObject]
        let apply: (QueryResult) throws -> Void
    }

    private let context: DatabaseContext
    private var pending: [Pending] = []

    init(_ context: DatabaseContext) {
        self.context = context
    }

    /// Collects a statement; `apply` takes its answer to memory.
    func add(
        _ statement: Statement,
        _ entity: EntityRuntime,
        _ objects: [DatabaseObject],
        apply: @escaping (QueryResult) throws -> Void
    ) {
        pending.append(Pending(statement: statement, entity: entity, objects: objects, apply: apply))
    }

    func insert(_ group: SavedGroup) throws {
        add(try group.insert(), group.entity, group.objects.map(\.object)) { [context] in
            try group.applyInsert($0, in: context)
        }
    }

    func update(_ group: SavedGroup) throws {
        add(try group.update(), group.entity, group.objects.map(\.object)) { [context] in
            try group.applyUpdate($0, in: context)
        }
    }

    /// Sends what is pending if a value of one of the objects is not known yet.
    func requireKnown(_ object: DatabaseObject, _ columns: [Int]) async throws {
        let isUnknown = object.withState { state in
            state.status == .inserted && columns.contains { state.row.isNull(at: $0) }
        }
        if isUnknown { try await flush() }
    }

    /// Sends what is pending in one round trip, and takes the answers to memory in order.
    ///
    /// An error names the entity whose statement it was, and the object if there is but one.
    func flush() async throws {
        let batch = pending
        pending = []
        guard !batch.isEmpty else { return }
        let results: [QueryResult]
        do {
            results = try await context.client.executeBatch(batch.map(\.statement))
        } catch let error as PostgresError {
            guard let failed = batch.first(where: { $0.statement.text.text == error.statement }) else { throw error }
            let advice = try error.sqlState == .uniqueViolation ? UniqueClaims(failed.objects).advice : ""
            throw KindredError(
                refused: error, entity: failed.entity, key: nil, among: failed.objects, advice: advice) ?? error
        }
        var unwritten: [DatabaseObject] = []
        for (pending, result) in zip(batch, results) {
            do {
                try pending.apply(result)
            } catch let rows as UnwrittenRows {
                unwritten += rows.objects
            }
        }
        // All of them at once; what was taken to memory is put back with the transaction.
        if !unwritten.isEmpty { throw try await context.unwritten(unwritten) }
    }
}
