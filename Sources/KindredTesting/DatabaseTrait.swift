import KindredPostgres
public import Testing

/// Gives each test a database of its own, see ``Testing/Trait/database``.
public struct DatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    /// Identifies one use of the trait; copies made for the tests of a suite share it.
    private final class Identity: Sendable {}

    private let fixture: DatabaseFixture
    private let timeLimit: Duration?
    private let identity = Identity()

    init(fixture: DatabaseFixture, timeLimit: Duration? = nil) {
        self.fixture = fixture
        self.timeLimit = timeLimit
    }

    /// A suite's trait applies to all of its tests.
    public var isRecursive: Bool { true }

    /// Provides a scope for each test case, and one around a test without arguments, in which it has its slot.
    ///
    /// Swift Testing counts `.timeLimit` for each case, scopes of cases included: only a scope around the test is outside.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || (testCase == nil && test.isParameterized) ? nil : self
    }

    /// Creates the database, runs one case of the test, checks for open transactions, and drops the database.
    ///
    /// Without a case it waits for the slot of a test without arguments.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // The trait nearest to the test applies; traits of outer suites are ignored.
        let nearest = test.traits.lazy.compactMap { $0 as? DatabaseTrait }.last
        guard nearest?.identity === identity else { return try await function() }
        if testCase == nil {
            try await TestSlots.tests.withSlot(function)
        } else if TestSlots.isHeld {
            try await run(test, function)
        } else {
            try await TestSlots.cases.withSlot { try await run(test, function) }
        }
    }

    private func run(_ test: Test, _ function: @concurrent @Sendable () async throws -> Void) async throws {
        let database = try await TestServer.shared().makeDatabase(fixture)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await TestDatabase.$ofTask.withValue(database) {
                    try await withTimeLimit(timeLimit, of: test, function)
                })
        } catch {
            result = .failure(error)
        }
        // An unstructured task, so that a cancelled or timed-out test is cleaned up too.
        let problem = await Task { await database.discard() }.value
        if let problem {
            Issue.record(Comment(rawValue: problem), sourceLocation: test.sourceLocation)
        }
        try result.get()
    }
}

extension Trait where Self == DatabaseTrait {
    /// Gives each test a new, empty database, found at ``TestDatabase/current``.
    public static var database: Self { DatabaseTrait(fixture: .empty) }

    /// Gives each test a new database with the fixture's contents, found at ``TestDatabase/current``.
    ///
    /// On a suite it applies to all of its tests; a test's own trait replaces the suite's. Each case of a test
    /// with arguments gets its own database. Tests may run in parallel.
    ///
    /// The databases are created on the server that the environment variable `DATABASE_URL` names, whose role
    /// needs CREATEDB; without it on an embedded server that the process shares.
    ///
    /// Only some tests have a database at the same time; the others wait. A test without arguments waits before it
    /// begins, so that `.timeLimit` counts its own time only. The cases of a test with arguments wait within
    /// `.timeLimit`: give them `timeLimit` instead, which counts from the moment that the case has its database.
    ///
    /// - Parameters:
    ///   - fixture: The scripts to run in a template, which is created once and copied for each test.
    ///   - timeLimit: How long each case may run before it is cancelled and fails, without the time that it waits for its
    ///     database.
    /// - Returns: The trait.
    public static func database(_ fixture: DatabaseFixture, timeLimit: Duration? = nil) -> Self {
        DatabaseTrait(fixture: fixture, timeLimit: timeLimit)
    }
}
