import Kindred
import KindredLive
import KindredTesting
import Logging
import Testing

/// `Database.connect(…, tracking: Tracking.Options(wakeUp: .notify(uri: …)))`.
@Suite(.database(.sql(Listening.schema)), .timeLimit(.minutes(5))) struct ListenerAddressTests {
    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func behindAPoolerADirectAddressIsListenedTo() async throws {
        let pooler = try await TestPooler(mode: .transaction)
        try await pooler.connect().close()
        let wakeUp = Tracking.Options.WakeUp.notify(uri: try Listening.directURI("own_address"))
        try await Listening.with(pooler.configuration, wakeUp) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let changes = try await database.makeContext().changes(of: "person")
            try await eventually("it does not listen") { database.tracking.metrics.isListening }
            #expect(try await Listening.sessions("own_address", other).count == 1)
            try await Listening.expectWakeUp(of: database, by: other)
            try await Listening.expectChange(in: database, by: other)
            withExtendedLifetime(changes) {}
        }
        withExtendedLifetime(pooler) {}
    }

    @Test(.enabled(if: TestPooler.isInstalled, "PgBouncer is not installed"))
    func behindAPoolerAloneItPolls() async throws {
        let pooler = try await TestPooler(mode: .transaction)
        try await pooler.connect().close()
        let log = LogLines()
        try await Listening.with(pooler.configuration, .notify, log: log) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let changes = try await database.makeContext().changes(of: "person")
            try await Listening.expectWarning("LISTEN has no effect", in: log)
            try await Listening.expectChange(in: database, by: other)
            #expect(!database.tracking.metrics.isListening && database.tracking.metrics.wakeUps == 0)
            withExtendedLifetime(changes) {}
        }
        withExtendedLifetime(pooler) {}
    }

    @Test func readersAndLocksShareOneConnection() async throws {
        let wakeUp = Tracking.Options.WakeUp.notify(uri: try Listening.directURI("shared_address"))
        try await Listening.with(try Listening.direct("main"), wakeUp) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let object = try await database.makeContext().create("person", ["id": 1])
            let changes = try await database.makeContext().changes(of: "person")
            // The first update has no lock, or this one already.
            let told = Task {
                for try await update in try database.makeContext().locks(of: "person") where !update.held.isEmpty {
                    return update.held.map(\.text)
                }
                return []
            }
            try await object.context.transaction {
                try await object.lock(announcing: "Ann")
                #expect(try await told.value == ["Ann"])
            }
            try await eventually("it does not listen") { database.tracking.metrics.isListening }
            #expect(try await Listening.sessions("shared_address", other).count == 1)
            withExtendedLifetime(changes) {}
        }
    }

    @Test(arguments: [false, true]) func anotherDatabaseIsRefused(isTracked: Bool) async throws {
        let name = "kindred_listening_\(UInt32.random(in: 0..<UInt32.max))"
        try await withClient { try await $0.query("CREATE DATABASE \(identifier: name) TEMPLATE template0") }
        let log = LogLines()
        var elsewhere = try Listening.direct("elsewhere_\(isTracked)")
        elsewhere.database = name
        if isTracked { try await lend(elsewhere) { try await Tracking($0).install() } }
        do {
            try await Listening.with(try Listening.direct("main"), .notify(over: elsewhere), log: log) {
                [elsewhere] database, other in
                guard try await Listening.isPossible(database) else { return }
                let changes = try await database.makeContext().changes(of: "person")
                try await Listening.expectWarning("of another database", in: log)
                try await Listening.expectChange(in: database, by: other)
                #expect(!database.tracking.metrics.isListening)
                try await eventually("a session stays") {
                    try await Listening.sessions(elsewhere.applicationName, other).isEmpty
                }
                withExtendedLifetime(changes) {}
            }
        } catch {
            Issue.record(error)
        }
        try await withClient { try await $0.query("DROP DATABASE \(identifier: name) WITH (FORCE)") }
    }

    @Test func anAddressThatDoesNotAnswerIsSaidOnce() async throws {
        let log = LogLines()
        let wakeUp = Tracking.Options.WakeUp.notify(
            uri: "postgres://postgres@127.0.0.1:\(try Listening.closedPort())/shop")
        try await Listening.with(try Listening.direct("main"), wakeUp, log: log) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let changes = try await database.makeContext().changes(of: "person")
            try await Listening.expectWarning("connectionFailed", in: log)
            for _ in 0..<3 { try await Listening.expectChange(in: database, by: other) }
            #expect(!database.tracking.metrics.isListening)
            #expect(!log.take(.warning).contains { $0.message.contains("found by polling") })
            withExtendedLifetime(changes) {}
        }
    }

    /// Nothing is sent: the database's own address does not answer.
    @Test func aBadAddressIsAnErrorOfConnect() async throws {
        let nowhere = "postgres://postgres@127.0.0.1:\(try Listening.closedPort())/shop"
        var empty = try Listening.direct("main")
        empty.endpoints = []
        let bad: [Tracking.Options.WakeUp] = [
            .notify(uri: "http://db.example.org/shop"), .notify(uri: "postgres://db.example.org/shop?pooling=no"),
            .notify(uri: "postgres://db.example.org:70000/shop"), .notify(over: empty),
        ]
        for wakeUp in bad {
            let error = await expectPostgresError(.invalidConfiguration) {
                try await Database.connect(nowhere, tracking: Tracking.Options(wakeUp: wakeUp)).close()
            }
            #expect(error?.message.hasPrefix("For the listener of changes: ") == true)
        }
        await expectPostgresError(.connectionFailed) {
            try await Database.connect(nowhere, tracking: Tracking.Options(wakeUp: .poll)).close()
        }
    }

    @Test(arguments: [false, true]) func aKilledListenerComesBack(hasOwnAddress: Bool) async throws {
        let name = "killed_\(hasOwnAddress)"
        var main = try Listening.direct(hasOwnAddress ? "main" : name)
        main.pool.maximumConnections = 1
        let wakeUp = hasOwnAddress ? Tracking.Options.WakeUp.notify(uri: try Listening.directURI(name)) : .notify
        try await Listening.with(main, wakeUp) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let changes = try await database.makeContext().changes(of: "person")
            try await eventually("it does not listen") { database.tracking.metrics.isListening }
            let before = Set(try await Listening.sessions(name, other))
            #expect(before.count == (hasOwnAddress ? 1 : 2))
            try await other.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = \(name)")
            try await eventually("the sessions do not come back") {
                let now = try await Listening.sessions(name, other)
                return now.count == before.count && before.isDisjoint(with: now)
            }
            try await Listening.expectWakeUp(of: database, by: other)
            try await Listening.expectChange(in: database, by: other)
            withExtendedLifetime(changes) {}
        }
    }
}
