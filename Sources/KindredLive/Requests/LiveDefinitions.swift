import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Compares the tables of live requests with the present catalog: other tables may stand behind a view, a policy may
/// show other rows, and a table may have another key.
struct LiveDefinitions: Sendable {
    /// The requests by their numbers.
    let queries: [Int: LiveQuery]

    /// The requests with tables that are defined differently: as they go on, or why they cannot.
    ///
    /// One statement for each model in use; where something differs, the catalog is read, in the task's transaction.
    func changed() async throws -> [Int: Result<LiveQuery, any Error>] {
        var changed: [Int: Result<LiveQuery, any Error>] = [:]
        for queries in Dictionary(grouping: queries, by: { ObjectIdentifier($0.value.core.runtime) }).values {
            guard let core = queries.first?.value.core else { continue }
            let names = queries.reduce(into: Set<QualifiedName>()) { $0.formUnion($1.value.tables.names) }
            // Asked by time, and not because of a change.
            core.database.live.trackingMetrics.withLock { $0.readerStatements += 2 }
            // A large catalog takes longer than the limit of a question.
            _ = try await core.database.client.execute(own: TrackingStatements.ownLimits)
            try await core.database.requireHelperSchema()
            let tables = try await LiveTables(behind: names, core.database.client)
            let outdated = queries.filter { $0.value.tables != tables.part(behind: $0.value.tables.names) }
            if outdated.isEmpty { continue }
            let schema: DatabaseSchema
            do {
                schema = try await SchemaReader.readServing(
                    from: core.database.client, overrides: core.database.overrides
                ) { try $0.servingFilters() }
            } catch let error as SchemaError {
                // Requests without a difference go on.
                for (number, _) in outdated { changed[number] = .failure(error) }
                continue
            }
            for (number, query) in outdated {
                changed[number] = Result {
                    try query.renewed(from: tables.part(behind: query.tables.names), in: schema)
                }
            }
        }
        return changed
    }
}

extension LiveQuery {
    /// The request with the tables that stand behind its relations now.
    ///
    /// Throws `KindredError` `.schemaChanged` if its objects would have other keys than the objects that it has shown;
    /// else as `FetchRequest.live()` does.
    fileprivate func renewed(from tables: LiveTables, in schema: DatabaseSchema) throws -> LiveQuery {
        for name in tables.names {
            guard let entity = core.runtime[name]?.entity else { continue }
            guard let new = schema[name] else { throw Self.hasChanged(name, "is gone") }
            if new.identity != entity.identity { throw Self.hasChanged(name, "has another key") }
        }
        return try reading(from: tables)
    }

    private static func hasChanged(_ name: QualifiedName, _ what: String) -> KindredError {
        KindredError(
            .schemaChanged, "\(name) \(what) since the live request was begun: begin it again in a new context",
            entity: name.description)
    }
}
