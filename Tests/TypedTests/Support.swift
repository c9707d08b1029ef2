import DemoModels
import Kindred
import KindredTesting
import Testing

/// Lends the test's database and a context over it.
func withDatabase(
    classes: [any TypedObject.Type] = [],
    _ body: (_ database: Database, _ context: DatabaseContext) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    configuration.cancellationGrace = .seconds(60)
    let database = try await Database.connect(configuration, classes: classes)
    do {
        try await body(database, database.makeContext())
    } catch {
        await database.close()
        throw error
    }
    await database.close()
}

/// The same, with the demo database's classes.
func withModels(_ body: (_ database: Database, _ context: DatabaseContext) async throws -> Void) async throws {
    try await withDatabase(classes: KindredModels.all, body)
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
