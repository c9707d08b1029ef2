import Kindred
import KindredLive
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

/// Random numbers that come again.
struct RepeatedRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 32) ^ (state << 32)
    }

    mutating func below(_ limit: Int) -> Int64 { Int64(Int(truncatingIfNeeded: next() >> 33) % limit) }

    /// The key of a row that may be there.
    mutating func key(_ limit: Int = 12) -> Int64 { 1 + below(limit) }
}

/// A connection that runs random statements.
struct RandomWriter: Sendable {
    let client: PostgresClient
    var random: RepeatedRandom
    /// The classes of SQLSTATEs that are no failure: of rows that are not there or there already, and of deadlocks.
    let expected: Set<String>
    let statement: @Sendable (inout RepeatedRandom) -> SQL

    /// Runs so many transactions, of up to three statements each; returns the writer that goes on.
    func running(_ count: Int) async throws -> RandomWriter {
        var writer = self
        for _ in 0..<count {
            let statements = (0..<writer.random.key(3)).map { _ in statement(&writer.random) }
            try await client.attempt(statements, unless: expected)
        }
        return writer
    }
}
