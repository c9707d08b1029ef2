#if os(Linux)
    import Glibc
    import Kindred
    import KindredPostgres
    import KindredService
    import KindredTesting
    import Logging
    import ServiceLifecycle
    import Synchronization
    import Testing
    import UnixSignals

    /// A program in a service group that gets SIGTERM: it ends, and its running work is done.
    @Suite(.database(.empty, timeLimit: .seconds(900))) struct ServiceShutdownTests {
        @Test(arguments: ["requestsEndFirst", "stuckStatementsAreGivenUp", "cancellationEndsIt"])
        func aProcessEndsAtSIGTERM(name: String) async throws {
            try await ChildProcess.run("ServiceShutdownChildTests/\(name)", argument: TestDatabase.current.uri)
        }

        @Test func aClientThatIsClosedOtherwiseEndsTheService() async throws {
            let client = try await PostgresClient.connect(PostgresConfiguration(uri: TestDatabase.current.uri))
            let service = Task { try await DatabaseService(client).run() }
            try await client.query("SELECT 1")
            await client.close()
            try await service.value
        }
    }

    /// The work of the processes of `ServiceShutdownTests`.
    @Suite(.enabled(if: ChildProcess.argument != nil, "Part of ServiceShutdownTests"), .timeLimit(.minutes(15)))
    struct ServiceShutdownChildTests {
        /// A server that answers one request when it is told to shut down, as servers do.
        private struct LateRequest: Service {
            let database: Database
            let answers: Counter

            func run() async throws {
                let request = Task {
                    let result = try await database.query("SELECT pg_sleep(0.5), 7")
                    // The statement after it finds the database open as well.
                    try await database.query("SELECT 1")
                    answers.add(result.count)
                }
                try await eventually("the request is at work") { database.client.metrics.inUse == 1 }
                kill(getpid(), SIGTERM)
                try await gracefulShutdown()
                try await request.value
            }
        }

        /// Tells that the group runs its services.
        private struct StartedService: Service {
            let counter: Counter

            func run() async throws {
                counter.add(1)
                try await gracefulShutdown()
            }
        }

        private func group(_ services: [any Service]) -> ServiceGroup {
            ServiceGroup(
                services: services, gracefulShutdownSignals: [.sigterm], logger: Logger(label: "ServiceShutdownTests"))
        }

        @Test func requestsEndFirst() async throws {
            let uri = try #require(ChildProcess.argument)
            let database = try await Database.connect(uri)
            let answers = Counter()
            try await group([DatabaseService(database), LateRequest(database: database, answers: answers)]).run()
            #expect(answers.value == 1)
            await expectPostgresError(.closed) { try await database.client.query("SELECT 1") }
        }

        @Test func stuckStatementsAreGivenUp() async throws {
            let client = try await PostgresClient.connect(
                PostgresConfiguration(uri: try #require(ChildProcess.argument)))
            let stuck = Task { try await client.query("SELECT pg_sleep(600)") }
            try await eventually("it runs") { client.metrics.inUse == 1 }
            let start = ContinuousClock.now
            let started = Counter()
            let running = Task {
                try await group([
                    DatabaseService(client, closingTimeout: .milliseconds(200)), StartedService(counter: started),
                ]).run()
            }
            // The group listens to signals, which end a process otherwise, before its services run.
            try await eventually("services run") { started.value == 1 }
            kill(getpid(), SIGTERM)
            try await running.value
            #expect(ContinuousClock.now - start < .seconds(60))
            await #expect(throws: PostgresError.self) { try await stuck.value }
        }

        @Test func cancellationEndsIt() async throws {
            let client = try await PostgresClient.connect(
                PostgresConfiguration(uri: try #require(ChildProcess.argument)))
            let running = Task { try await DatabaseService(client).run() }
            try await client.query("SELECT 1")
            running.cancel()
            try await running.value
            await expectPostgresError(.closed) { try await client.query("SELECT 1") }
        }
    }

    /// A number that several tasks count.
    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }
        func add(_ number: Int) { count.withLock { $0 += number } }
    }
#endif
