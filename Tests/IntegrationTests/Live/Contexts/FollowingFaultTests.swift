import KindredTesting
import Synchronization
import Testing

@testable import Kindred
@testable import KindredLive

/// Failures while a context begins to follow changes.
@Suite(.database(.sql(FollowedWorld.schema)), .timeLimit(.minutes(5))) struct FollowingFaultTests {
    private func withInterruptedSource(
        _ body: (_ database: Database, _ source: InterruptedSource, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await database.tracking.enable(FollowedWorld.tables)
            try await other.query("INSERT INTO region VALUES (1, 'north')")
            try await other.query("INSERT INTO person VALUES (1, 'Ada', NULL, 1)")
            let source = InterruptedSource(OutboxSource(database))
            let reader = KindredLive.ChangeReader(database, source: source)
            database.live.changeReaderReference.withLock { $0.object = reader }
            try await body(database, source, other)
            withExtendedLifetime(reader) {}
        }
    }

    @Test func aFailureWhileTablesAreLookedUpLosesNoChange() async throws {
        try await withInterruptedSource { database, source, other in
            let context = database.makeContext(tracking: .automatic)
            // The reader ends behind the back of the context, which has just entered.
            source.interruptKeys {
                let reader = database.changeReader
                source.failNextReading()
                reader.askForStep()
                while reader.cursor != nil { try? await Task.sleep(for: .milliseconds(5)) }
            }
            let ada = try #require(try await context.find("person", 1))
            #expect(source.wasInterrupted)
            try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Eve"))
        }
    }

    @Test func aContextThatEntersWhileAStepRunsIsLeftToTheNext() async throws {
        try await withInterruptedSource { database, source, other in
            let first = database.makeContext(tracking: .automatic)
            let north = try #require(try await first.find("region", 1))
            let second = database.makeContext(tracking: .automatic)
            let made = try second.add("region", ["id": 2, "name": "south"])
            // The step's snapshot does not have the row, and the context has it before it enters.
            source.interruptReading {
                try await second.save()
                _ = try await second.find("person", 1)
            }
            try await other.query("UPDATE region SET name = 'far north' WHERE id = 1")
            try await database.tracking.catchUp()
            try await #require(source.interruption).value
            #expect(north["name"] == .string("far north"))
            #expect(!made.isDeleted && made["name"] == .string("south"))
            try await other.query("UPDATE region SET name = 'far south' WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(made["name"] == .string("far south"))
        }
    }

    @Test func whatTheServerRefusesToOneContextConcernsNoOther() async throws {
        try await withDatabase { database, _, other in
            try await database.tracking.install()
            try await database.tracking.enable(FollowedWorld.tables)
            try await other.query("INSERT INTO region VALUES (1, 'north')")
            try await other.query("INSERT INTO person VALUES (1, 'Ada', NULL, 1)")
            let role = "follower_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role) LOGIN")
            try await other.query("GRANT SELECT ON region, person TO \(identifier: role)")
            try await database.tracking.install(readers: [role])
            var configuration = other.configuration
            configuration.user = role
            let theirs = try await Database.connect(configuration)
            func end() async {
                await theirs.close(timeout: .zero)
                _ = try? await other.query("DROP OWNED BY \(identifier: role)")
                _ = try? await other.query("DROP ROLE \(identifier: role)")
            }
            do {
                let (first, second) = (
                    theirs.makeContext(tracking: .automatic), theirs.makeContext(tracking: .automatic)
                )
                let north = try #require(try await first.find("region", 1))
                let ada = try #require(try await second.find("person", 1))
                // Their changes are still told, but which rows have changed is not, and none can be read.
                try await other.query("REVOKE SELECT ON person FROM \(identifier: role)")
                try await other.query("GRANT SELECT (id) ON person TO \(identifier: role)")
                try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
                try await other.query("UPDATE region SET name = 'south' WHERE id = 1")
                await expectError(.accessDenied) { try await theirs.tracking.catchUp() }
                #expect(north["name"] == .string("south"))
                #expect(ada["name"] == .string("Ada"))
                await expectError(.accessDenied) { _ = try await ada.value(forKey: "name") }
                // Allowed again, it begins anew with its next load.
                try await other.query("GRANT SELECT ON person TO \(identifier: role)")
                _ = try await second.fetch("person").all()
                try await other.query("UPDATE person SET name = 'Fay' WHERE id = 1")
                try await theirs.tracking.catchUp()
                #expect(ada["name"] == .string("Fay"))
            } catch {
                await end()
                throw error
            }
            await end()
        }
    }

    @Test func anAnnouncementAfterTheCloseOpensNoConnection() async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await other.query("INSERT INTO region VALUES (1, 'north')")
            let object = try #require(try await context.find("region", 1))
            try await context.transaction { try await object.lock(announcing: "here") }
            await LockAnnouncer.of(database).close()
            let error = await #expect(throws: PostgresError.self) {
                try await context.transaction { try await object.lock(announcing: "again") }
            }
            #expect(error?.code == .closed)
        }
    }

    @Test func aCancelledContextLeavesNothingBehind() async throws {
        try await withInterruptedSource { database, source, other in
            let task = Task {
                let context = database.makeContext(tracking: .automatic)
                return try await context.find("person", 1)
            }
            task.cancel()
            _ = try? await task.value
            let reader = database.changeReader
            for _ in 0..<1_000 where reader.cursor != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(reader.cursor == nil)
            // The next one begins anew.
            let context = database.makeContext(tracking: .automatic)
            let ada = try #require(try await context.find("person", 1))
            try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Eve"))
        }
    }
}

/// A source of changes that does something once before it says which tables are recorded.
private final class InterruptedSource: ChangeSource {
    private struct State {
        var keysInterruption: (@Sendable () async -> Void)?
        var readingInterruption: (@Sendable () async throws -> Void)?
        /// The work of the second one.
        var task: Task<Void, any Error>?
        var failsReading = false
    }

    private let source: OutboxSource
    private let state = Mutex(State())

    init(_ source: OutboxSource) { self.source = source }

    func interruptKeys(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.keysInterruption = body } }

    /// Does something after the next reading of records, while its step runs.
    func interruptReading(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.readingInterruption = body }
    }

    /// The action after a reading; nil if there was none.
    var interruption: Task<Void, any Error>? { state.withLock { $0.task } }

    /// Has one reading fail for good.
    func failNextReading() { state.withLock { $0.failsReading = true } }

    var wasInterrupted: Bool { state.withLock { $0.keysInterruption == nil && !$0.failsReading } }

    func place() async throws -> ChangeCursor { try await source.place() }

    func tables() async throws -> [UInt32: TrackedTable] {
        let interruption = state.withLock { state in
            defer { state.keysInterruption = nil }
            return state.keysInterruption
        }
        await interruption?()
        return try await source.tables()
    }

    func read(from cursor: ChangeCursor, limit: Int) async throws -> ChangePiece {
        let fails = state.withLock { state in
            defer { state.failsReading = false }
            return state.failsReading
        }
        if fails { throw KindredError(.trackingNotInstalled, "for a test") }
        let piece = try await source.read(from: cursor, limit: limit)
        if piece.records.isEmpty { return piece }
        let interruption = state.withLock { state in
            defer { state.readingInterruption = nil }
            return state.readingInterruption
        }
        guard let interruption else { return piece }
        // Detached: it has no part in the step's transaction.
        let task = Task.detached { try await interruption() }
        _ = await task.result
        state.withLock { $0.task = task }
        return piece
    }

    func begin() async throws -> ChangeCursor { try await source.begin() }

    func flush() async throws { try await source.flush() }

    var notifies: Bool { source.notifies }

    func sleep(for duration: Duration) async throws -> Int64 { try await source.sleep(for: duration) }

    func wake(_ token: Int64) async throws { try await source.wake(token) }

    func notifications() async throws -> Notifications { try await source.notifications() }

    func attend() async throws { try await source.attend() }

    var attendance: Duration { source.attendance }

    func check() async throws -> ChangeCheck { try await source.check() }
}
