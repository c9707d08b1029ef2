import Kindred
import KindredTesting
import Testing

/// Lends the test's database with tracking of some tables, a context, and a connection of another program.
func withLive(
    _ tables: String...,
    body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
) async throws {
    try await withDatabase { database, context, other in
        try await database.tracking.install()
        try await database.tracking.enable(tables)
        try await body(database, context, other)
    }
}

extension LiveRequest.AsyncIterator {
    /// The next update, which there must be.
    mutating func update(sourceLocation: SourceLocation = #_sourceLocation) async throws -> LiveUpdate<Object> {
        try #require(try await next(), sourceLocation: sourceLocation)
    }
}

extension PostgresClient {
    /// Runs statements in a transaction, which has no effect where the server refuses one.
    ///
    /// - Parameter classes: the classes of SQLSTATEs that are expected; others are thrown.
    func attempt(_ statements: [SQL], unless classes: Set<String>) async throws {
        do {
            try await withTransaction { _ in
                for statement in statements { try await query(statement) }
            }
        } catch let error as PostgresError where error.sqlState.map({ classes.contains($0.class.rawValue) }) == true {}
    }
}

extension LiveUpdate {
    /// The values of an attribute, in the list's order.
    func values(_ key: String) -> [PostgresValue?] { objects.map { $0[key] } }

    /// The integers of an attribute, in the list's order; `id` by default.
    func integers(_ key: String = "id") -> [Int64?] {
        values(key).map { if case .integer(let integer)? = $0 { integer } else { nil } }
    }
}
