import DemoModels
import Kindred
import KindredTesting
import Synchronization
import Testing

extension Trait where Self == DatabaseTrait {
    /// The demo database, which the articles' examples are about.
    static var shop: Self { .database(.file("../../sql/demo.sql")) }
}

/// Lends the test's database, a context over it, and the statements that are sent over it.
func withShop(
    classes: [any TypedObject.Type] = KindredModels.all,
    overrides: [SchemaOverride] = [],
    _ body: (_ database: Database, _ context: DatabaseContext, _ sent: SentStatements) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    configuration.cancellationGrace = .seconds(60)
    let database = try await Database.connect(configuration, classes: classes, overrides: overrides)
    let sent = SentStatements(database.client)
    do {
        try await body(database, database.makeContext(), sent)
    } catch {
        await database.close()
        throw error
    }
    await database.close()
}

/// The statements that a client has sent since the last look, without transaction control.
final class SentStatements: Sendable {
    private let statements: SentList
    private let observation: StatementObservation

    private final class SentList: Sendable {
        let texts = Mutex<[String]>([])
    }

    init(_ client: PostgresClient) {
        let list = SentList()
        statements = list
        observation = client.addObserver { event in
            guard event.kind == .statement else { return }
            list.texts.withLock { $0.append(event.sql) }
        }
    }

    /// Forgets the sent statements, and returns them.
    @discardableResult
    func take() -> [String] {
        statements.texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }

    /// Expects exactly these statements since the last look; spaces and line breaks do not count.
    func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        let sent = take().map(\.inOneLine)
        #expect(sent == expected.map(\.inOneLine), sourceLocation: sourceLocation)
    }

    /// Expects this number of statements since the last look.
    func expectCount(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let sent = take()
        #expect(sent.count == count, "\(sent)", sourceLocation: sourceLocation)
    }
}

extension String {
    /// The text with every run of spaces and line breaks as one space.
    var inOneLine: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

/// Expects the error that an article shows: its code, and how its text begins.
func expectError(
    _ code: KindredError.Code,
    _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("no error was thrown, \(code) was expected", sourceLocation: sourceLocation)
    } catch let error as KindredError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(error.message.inOneLine.hasPrefix(text.inOneLine), "\(error.message)", sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// Expects the text of an error of another kind that an article shows.
func expectMessage(_ text: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(text.inOneLine == expected.inOneLine, sourceLocation: sourceLocation)
}
