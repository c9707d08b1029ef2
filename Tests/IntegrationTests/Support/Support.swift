import Kindred
import KindredTesting
import Testing

/// Lends the test's database, a context over it, and a second connection that sees only committed rows.
func withDatabase(
    overrides: [SchemaOverride] = [],
    _ body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
    // Tests share two threads with each other's arithmetic: a test that is not about waiting has time.
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    configuration.cancellationGrace = .seconds(60)
    let database = try await Database.connect(configuration, overrides: overrides)
    let other = try await PostgresClient.connect(configuration)
    do {
        try await body(database, database.makeContext(), other)
    } catch {
        await database.close()
        await other.close()
        throw error
    }
    await database.close()
    await other.close()
}

extension Database {
    /// Registers a hook that runs before objects of an entity are deleted.
    func beforeDeletion(of entity: String, _ body: @escaping @Sendable (DatabaseObject) async throws -> Void) throws {
        try addHooks(ObjectHooks(prepareForDeletion: body), to: entity)
    }
}

extension PostgresClient {
    /// The one value that a query gives, as a second connection sees it.
    func value(_ sql: SQL) async throws -> PostgresValue? {
        try await query(sql).first?[0]
    }

    /// The first column of a query's rows.
    func values(_ sql: SQL) async throws -> [PostgresValue?] {
        try await query(sql).map { try $0[0] }
    }
}

/// Expects that `body` sends statements that begin like the given ones, in this order, and no others.
func expectStatements(
    _ beginnings: [String],
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async throws {
    let (_, recorder) = try await recordingStatements(body)
    let statements = recorder.statements
    let matches = statements.count == beginnings.count && zip(statements, beginnings).allSatisfy { $0.hasPrefix($1) }
    #expect(matches, "sent: \(statements)", sourceLocation: sourceLocation)
}

/// Expects a `KindredError` of a code and returns it.
@discardableResult
func expectError(
    _ code: KindredError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> KindredError? {
    do {
        try await body()
        Issue.record("no error was thrown, \(code) was expected", sourceLocation: sourceLocation)
    } catch let error as KindredError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

/// Runs `body` in a transaction, or a savepoint, that fails at its end.
func fail(
    _ context: DatabaseContext,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    struct Failure: Error {}
    await #expect(throws: Failure.self, sourceLocation: sourceLocation) {
        try await context.transaction {
            try await body()
            throw Failure()
        }
    }
}
