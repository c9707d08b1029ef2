import Foundation
import KindredPostgres
import Synchronization
import Testing

/// Row C10 of the fault catalogue: passwords that another service keeps, and that change.
@Suite struct PasswordProviderTests {
    private struct Secretive: Error, CustomStringConvertible {
        var description: String { "the vault at sEcr3t is sealed" }
    }

    /// Gives the configured password, and counts the calls.
    private final class Vault: Sendable {
        let password: Mutex<String?>
        let calls = Atomic(0)

        init(_ password: String?) { self.password = Mutex(password) }

        var count: Int { calls.load(ordering: .relaxed) }
        func change(to new: String?) { password.withLock { $0 = new } }

        @Sendable func give() async throws -> PostgresConfiguration.Password {
            calls.add(1, ordering: .relaxed)
            await Task.yield()
            guard let password = password.withLock({ $0 }) else { throw Secretive() }
            return .init(password)
        }
    }

    @Test(
        "C10: a password that changes while connections are open is asked for by whatever connects",
        .timeLimit(.minutes(15)))
    func rotation() async throws {
        let rules = ["local all postgres trust", "local all app scram-sha-256"]
        try await RestartableServer.with(accessRules: rules) { server in
            let admin = try await PostgresClient.connect(server.configuration)
            try await admin.query("CREATE ROLE app LOGIN PASSWORD 'first'")
            let vault = Vault("first")
            var configuration = server.configuration
            configuration.user = "app"
            configuration.pool.maximumConnections = 2
            configuration.passwordProvider = vault.give
            let client = try await PostgresClient.connect(configuration)
            #expect(vault.count == 1)

            try await admin.query("ALTER ROLE app PASSWORD 'second'")
            await refuse(configuration, as: .invalidPassword)
            vault.change(to: "second")
            try await expectUsable(client)
            #expect(client.metrics.opened == 1 && vault.count == 2)
            try await client.withTransaction { _ in
                try await client.query("SELECT 1")
                try await Task.detached { try await expectUsable(client) }.value
            }
            #expect(client.metrics.opened == 2 && vault.count == 3)
            // To cancel a statement takes a connection too, but no password.
            await expectPostgresError(.timeout) {
                try await client.query("SELECT pg_sleep(600)", timeout: .milliseconds(50))
            }
            let events = try await client.listen(to: "channel")
            #expect(vault.count == 4)

            try await admin.query("ALTER ROLE app PASSWORD 'third'")
            vault.change(to: "third")
            try await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
            try await eventually("the sessions have ended") { client.metrics.lost == 2 }
            try await expectUsable(client)
            var iterator = events.makeAsyncIterator()
            guard case .missed? = await iterator.next() else {
                Issue.record("no gap")
                return
            }
            #expect(vault.count >= 6)

            vault.change(to: "sEcr3t")
            await refuse(configuration, as: .invalidPassword)
            await client.close()
            await admin.close()
        }
    }

    private func refuse(
        _ configuration: PostgresConfiguration, as state: SQLState, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await expectPostgresError(.connectionFailed, sourceLocation: sourceLocation) {
            _ = try await PostgresClient.connect(configuration)
        }
        #expect(error?.sqlState == state, sourceLocation: sourceLocation)
        let texts = "\(String(describing: error)) \(String(reflecting: error)) \(configuration)"
        #expect(!texts.contains("sEcr3t"), sourceLocation: sourceLocation)
    }

    /// A server that lets every client in, and counts.
    private func withServer(
        _ vault: Vault, _ body: (PostgresConfiguration, _ sessions: () -> Int) async throws -> Void
    ) async throws {
        let sessions = Arrivals()
        let server = try ScriptedServer { session in
            sessions.count.add(1, ordering: .relaxed)
            session.welcome()
            while session.readMessage() != nil {}
        }
        var configuration = server.configuration
        configuration.connectTimeout = .seconds(120)
        configuration.passwordProvider = vault.give
        try await body(configuration) { sessions.count.load(ordering: .relaxed) }
    }

    private final class Arrivals: Sendable {
        let count = Atomic(0)
        let isFirst = Atomic(true)
    }

    @Test("C10: without a password that can be used nothing is sent", arguments: [nil, "", "a\0b"])
    func noPassword(bad: String?) async throws {
        let vault = Vault(bad)
        try await withServer(vault) { configuration, sessions in
            let error = await expectPostgresError(.passwordUnavailable) {
                _ = try await PostgresClient.connect(configuration)
            }
            #expect(sessions() == 0 && error.map { !"\($0)".contains("sEcr3t") } == true)
            // The provider's own text may hold secrets: no form of the error shows it.
            #expect(error.map { !$0.debugDescription.contains("sEcr3t") && $0.underlying.isEmpty } == true)
            vault.change(to: "good")
            let client = try await PostgresClient.connect(configuration)
            await client.close(timeout: .zero)
            #expect(sessions() == 1 && vault.count == 2)
        }
    }

    @Test("C10: callers learn why there is no password, and are served when there is one again")
    func outage() async throws {
        let vault = Vault("good")
        let isOpen = Atomic(false)
        let server = try ScriptedServer { session in
            session.welcome()
            if isOpen.load(ordering: .relaxed) { while session.readMessage() != nil {} }
        }
        var configuration = server.configuration
        configuration.connectTimeout = .seconds(120)
        configuration.passwordProvider = vault.give
        configuration.pool.acquireTimeout = .milliseconds(300)
        let client = try await PostgresClient.connect(configuration)
        vault.change(to: nil)
        try await eventually("the first session has ended") { client.metrics.lost == 1 }
        try await eventually("callers learn why") {
            do {
                try await client.query("SELECT 1")
                return false
            } catch let error as PostgresError {
                return error.code == .passwordUnavailable
            }
        }
        isOpen.store(true, ordering: .relaxed)
        vault.change(to: "good")
        try await eventually("there is a connection again") {
            (try? await client.withConnection { _ in }) != nil
        }
        await client.close(timeout: .zero)
    }

    @Test("C10: a provider that hangs has the connect timeout, whether or not it heeds its cancellation")
    func hanging() async throws {
        for isObedient in [true, false] {
            let (asked, wasCancelled) = (Arrivals(), Arrivals())
            try await withServer(Vault(nil)) { configuration, sessions in
                var configuration = configuration
                configuration.connectTimeout = .milliseconds(100)
                configuration.passwordProvider = {
                    asked.count.add(1, ordering: .relaxed)
                    if isObedient {
                        defer { wasCancelled.count.add(1, ordering: .relaxed) }
                        try await Task.sleep(for: .seconds(600))
                    } else {
                        await withTaskCancellationHandler {
                            await Task.detached { try? await Task.sleep(for: .seconds(5)) }.value
                        } onCancel: {
                            wasCancelled.count.add(1, ordering: .relaxed)
                        }
                    }
                    return "late"
                }
                await expectPostgresError(.passwordUnavailable) {
                    _ = try await PostgresClient.connect(configuration)
                }
                configuration.connectTimeout = .seconds(600)
                let cancelled = Task { [configuration] in try await PostgresClient.connect(configuration) }
                try await eventually("the provider is asked") { asked.count.load(ordering: .relaxed) == 2 }
                cancelled.cancel()
                await #expect(throws: CancellationError.self) { try await cancelled.value }
                try await eventually("the provider is told") { wasCancelled.count.load(ordering: .relaxed) == 2 }
                #expect(sessions() == 0)
            }
        }
    }

    @Test("C10: closing ends attempts that wait for a password") func closing() async throws {
        let waiting = Arrivals()
        try await withServer(Vault(nil)) { configuration, _ in
            var configuration = configuration
            configuration.pool.maximumConnections = 2
            configuration.pool.acquireTimeout = .seconds(600)
            configuration.connectTimeout = .seconds(600)
            configuration.passwordProvider = {
                if waiting.isFirst.exchange(false, ordering: .relaxed) { return "good" }
                waiting.count.add(1, ordering: .relaxed)
                defer { waiting.count.subtract(1, ordering: .relaxed) }
                try await Task.sleep(for: .seconds(600))
                return "late"
            }
            let client = try await PostgresClient.connect(configuration)
            try await client.withConnection { _ in
                let asking = Task.detached { try await client.query("SELECT 1") }
                let listening = Task.detached { _ = try await client.listen(to: "channel") }
                try await eventually("both wait") { waiting.count.load(ordering: .relaxed) == 2 }
                await client.close(timeout: .zero)
                await expectPostgresError(.closed) { _ = try await asking.value }
                await expectPostgresError(.closed) { try await listening.value }
            }
            try await eventually("nobody waits") { waiting.count.load(ordering: .relaxed) == 0 }
        }
    }

    @Test("C10: a password and a provider contradict each other") func both() async throws {
        try await withServer(Vault("good")) { configuration, sessions in
            var configuration = configuration
            configuration.password = "sEcr3t"
            let error = await expectPostgresError(.invalidConfiguration) { [configuration] in
                _ = try await PostgresClient.connect(configuration)
            }
            #expect(sessions() == 0 && error.map { !"\($0)".contains("sEcr3t") } == true)
        }
    }
}
