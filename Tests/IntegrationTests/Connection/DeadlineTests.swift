import KindredPostgres
import KindredTesting
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Callers are back in time, whatever the server does or does not do.
///
/// On a machine on which all tests run at once a moment may take long: the best of some rounds counts.
@Suite(.database(.empty, timeLimit: .seconds(900))) struct DeadlineTests {
    private static let limit = Duration.milliseconds(300)
    private static let slack = Duration.milliseconds(250)

    enum Wait: CaseIterable {
        case statement, cancelled, lease, transaction, cancelledTransaction, commit, stream, copyOut, copyIn
    }

    /// - Parameter tasks: how many tasks wait at once.
    private func expectInTime(
        _ rounds: Int = 5, tasks: Int = 1, _ overtime: () async throws -> Duration
    ) async throws {
        var best = Duration.seconds(1_000)
        for _ in 0..<rounds where best > Self.slack {
            let late = await Self.lateness(of: tasks)
            best = min(best, try await overtime() - late * 10)
        }
        #expect(best <= Self.slack)
    }

    /// How late tasks are that do nothing but sleep: what the machine itself adds at the moment.
    private static func lateness(of tasks: Int) async -> Duration {
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks { group.addTask { try? await Task.sleep(for: .milliseconds(100)) } }
        }
        return ContinuousClock.now - start - .milliseconds(100)
    }

    @Test("A session that stands still holds nobody longer than allowed", arguments: Wait.allCases)
    func frozenSession(wait: Wait) async throws {
        try await RestartableServer.with { server in
            try await expectInTime {
                var configuration = server.configuration
                configuration.pool.maximumConnections = 1
                if wait == .commit { configuration.statementTimeout = Self.limit }
                let client = try await PostgresClient.connect(configuration)
                // A statement's results are described before the session stands still.
                try await client.query("SELECT 1")
                let row = try await client.query("SELECT pg_backend_pid()")[0]
                let process = try #require(try row.decode(0, as: Int32.self))
                let clock = Stopwatch()
                await run(wait, client, clock) {
                    try await server.signal(SIGSTOP, process: process)
                    clock.start()
                }
                let overtime =
                    clock.elapsed - (wait == .cancelled || wait == .cancelledTransaction ? .zero : Self.limit)
                // The next does not get the session that was given up. A session whose statement was cancelled before
                // anything was sent was not given up.
                if wait == .cancelled { try? await server.signal(SIGCONT, process: process) }
                try await expectUsable(client)
                if wait != .cancelled { try await server.signal(SIGCONT, process: process) }
                await client.close(timeout: .zero)
                return overtime
            }
        }
    }

    private final class Flag: Sendable {
        private let state = Atomic(false)

        var value: Bool { state.load(ordering: .sequentiallyConsistent) }
        func exchange(_ value: Bool) -> Bool { state.exchange(value, ordering: .sequentiallyConsistent) }
    }

    private final class Stopwatch: Sendable {
        private let began = Mutex(ContinuousClock.now)

        func start() { began.withLock { $0 = .now } }
        var elapsed: Duration { ContinuousClock.now - began.withLock { $0 } }
    }

    private func run(
        _ wait: Wait, _ client: PostgresClient, _ clock: Stopwatch,
        _ freeze: @escaping @Sendable () async throws -> Void
    ) async {
        let limit = Self.limit
        switch wait {
        case .statement:
            await expectPostgresError(.timeout) {
                try await freeze()
                try await client.query("SELECT 1", timeout: limit)
            }
        case .cancelled:
            let isFrozen = Flag()
            let waiting = Task {
                defer { _ = isFrozen.exchange(true) }
                try await freeze()
                _ = isFrozen.exchange(true)
                return try await client.query("SELECT 1")
            }
            while !isFrozen.value { try? await Task.sleep(for: .milliseconds(5)) }
            // Likely in the middle of the statement; before it the cancellation is no wait at all.
            try? await Task.sleep(for: .milliseconds(200))
            clock.start()
            waiting.cancel()
            do {
                _ = try await waiting.value
                Issue.record("a session that stands still has answered")
            } catch is CancellationError {
                // Nothing was sent.
            } catch let error as PostgresError where error.code == .outcomeUnknown {
                #expect(error.mayHaveTakenEffect)
            } catch {
                Issue.record(error)
            }
        case .lease:
            await expectPostgresError(.timeout) {
                try await client.withConnection { connection in
                    try await freeze()
                    try await connection.query("SELECT 1", timeout: limit)
                }
            }
        case .transaction:
            await expectPostgresError(.timeout) {
                try await client.withTransaction { transaction in
                    try await transaction.query("SELECT 1")
                    try await freeze()
                    try await transaction.query("SELECT 1", timeout: limit)
                }
            }
        case .cancelledTransaction:
            let task = Task {
                try await client.withTransaction { transaction in
                    try await transaction.query("SELECT 1")
                    try await freeze()
                    withUnsafeCurrentTask { $0?.cancel() }
                    try Task.checkCancellation()
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        case .commit:
            await expectPostgresError(.commitUnknown) {
                try await client.withTransaction { transaction in
                    try await transaction.query("CREATE TABLE IF NOT EXISTS note (id bigint)", timeout: .seconds(120))
                    try await freeze()
                }
            }
        case .stream:
            await expectPostgresError(.timeout) {
                var count = 0
                for try await _ in try client.stream("SELECT generate_series(1, 100000)", timeout: limit) {
                    count += 1
                    if count == 64 { try await freeze() }
                }
            }
        case .copyOut:
            await expectPostgresError(.timeout) {
                var isFirst = true
                let sql: SQL = "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 100000)) TO STDOUT"
                for try await _ in try client.copyOut(sql, timeout: limit) {
                    if isFirst { try await freeze() }
                    isFirst = false
                }
            }
        case .copyIn:
            await expectPostgresError(.timeout) {
                try await client.query("CREATE TABLE IF NOT EXISTS note (id bigint)")
                let lines = AsyncStream<[UInt8]> { continuation in
                    for _ in 0..<100 { continuation.yield(Array(repeating: 0x31, count: 5) + [0x0A]) }
                    continuation.finish()
                }
                let isFrozen = Flag()
                try await client.copyIn(
                    "COPY note FROM STDIN",
                    from: lines.map { line in
                        if !isFrozen.exchange(true) { try? await freeze() }
                        return line
                    }, timeout: limit)
            }
        }
    }

    @Test(
        "1,000 statements of 100 ms end within 350 ms, whether they wait for a connection or on one",
        arguments: [true, false])
    func manyAtOnce(isLeased: Bool) async throws {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.pool.maximumConnections = 4
        try await lend(configuration) { client in
            let holders = (0..<(isLeased ? 4 : 0)).map { _ in
                Task {
                    try await client.withConnection {
                        try await $0.query("SELECT pg_sleep(600)", timeout: .seconds(900))
                    }
                }
            }
            if isLeased { try await eventually("all are lent") { client.metrics.leased == 4 } }
            try await expectInTime(20, tasks: 1_000) {
                let longest = await withTaskGroup(of: Duration.self) { group in
                    for _ in 0..<1_000 {
                        group.addTask {
                            let start = ContinuousClock.now
                            await expectPostgresError(.timeout) {
                                try await client.query("SELECT pg_sleep(600)", timeout: .milliseconds(100))
                            }
                            return ContinuousClock.now - start
                        }
                    }
                    return await group.reduce(.zero) { max($0, $1) }
                }
                return longest - .milliseconds(100)
            }
            for holder in holders { holder.cancel() }
            for holder in holders { _ = await holder.result }
            try await expectUsable(client)
        }
    }

    @Test(
        "A statement's time runs while it waits for another task's transaction or savepoint", arguments: [true, false])
    func waitingForASibling(isSavepoint: Bool) async throws {
        try await withClient { (client) async throws in
            @Sendable func use(_ query: @escaping @Sendable () async throws -> Void) async throws {
                let isOpen = Flag()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await client.withTransaction { _ in
                            try await client.query("SELECT 1")
                            _ = isOpen.exchange(true)
                            try await Task.sleep(for: .seconds(600))
                        }
                    }
                    while !isOpen.value {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    await expectPostgresError(.timeout) { try await query() }
                    group.cancelAll()
                    while let result = await group.nextResult() { _ = result }
                }
            }
            if isSavepoint {
                try await client.withTransaction { transaction in
                    try await use { try await transaction.query("SELECT 2", timeout: .milliseconds(50)) }
                }
            } else {
                try await client.withConnection { connection in
                    try await use { try await connection.query("SELECT 2", timeout: .milliseconds(50)) }
                }
            }
            try await expectUsable(client)
        }
    }

    @Test("Who shares a connection with a statement that does not stop gets an answer, and new statements go elsewhere")
    func sharedSession() async throws {
        try await RestartableServer.with { server in
            var configuration = server.configuration
            configuration.pool.maximumConnections = 2
            try await lend(configuration) { client in
                let row = try await client.query("SELECT pg_backend_pid()")[0]
                let process = try #require(try row.decode(0, as: Int32.self))
                try await client.query("SELECT 1")
                // Both are in the pipeline of the one connection before there is another.
                try await server.signal(SIGSTOP, process: process)
                let late = Task { try await client.query("SELECT 1", timeout: .milliseconds(100)) }
                try await eventually("it is on its way") { client.metrics.inUse == 1 }
                let patient = Task { try await client.query("SELECT 1", timeout: .seconds(120)) }
                await expectPostgresError(.timeout) { _ = try await late.value }
                try await expectUsable(client)
                try await server.signal(SIGCONT, process: process)
                #expect(try await patient.value.count == 1)
                try await eventually("what was given up is closed") { client.metrics.closed + client.metrics.lost == 1 }
            }
        }
    }
}
