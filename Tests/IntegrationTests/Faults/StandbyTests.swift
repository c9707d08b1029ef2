import Foundation
import KindredPostgres
import Synchronization
import Testing

/// Rows C12, C13 and D9 of the fault catalogue: a primary, a standby that follows it, and the standby that takes its
/// place.
@Suite struct StandbyTests {
    /// Lends two servers, the second of which follows the first.
    private func withServers(
        settings: [String] = [],
        _ body: (_ primary: RestartableServer, _ standby: RestartableServer) async throws -> Void
    ) async throws {
        let primary = try await RestartableServer(settings: settings)
        var standby: RestartableServer?
        do {
            try await primary.start()
            let follower = try await RestartableServer(following: primary, settings: settings)
            standby = follower
            try await follower.start()
            try await body(primary, follower)
        } catch {
            try? await standby?.remove()
            try? await primary.remove()
            throw error
        }
        try await standby?.remove()
        try await primary.remove()
    }

    /// A configuration of both servers; the order of the two is the order in which they are tried.
    private func configuration(
        _ servers: [RestartableServer], _ target: PostgresConfiguration.TargetSession
    ) -> PostgresConfiguration {
        var configuration = servers[0].configuration
        configuration.endpoints = servers.flatMap(\.configuration.endpoints)
        configuration.targetSession = target
        configuration.pool.maximumConnections = 4
        return configuration
    }

    private func isStandby(_ client: PostgresClient) async throws -> Bool? {
        try await client.query("SELECT pg_is_in_recovery()")[0].decode(0, as: Bool.self)
    }

    @Test(
        "T1: a COMMIT that waits for its standbys too long is unknown, though it took effect", .timeLimit(.minutes(15)))
    func missingStandby() async throws {
        try await RestartableServer.with(settings: ["synchronous_standby_names = 'nobody'"]) { server in
            var configuration = server.configuration
            configuration.statementTimeout = .seconds(1)
            configuration.cancellationGrace = .seconds(60)
            let careful = configuration
            configuration.settings["synchronous_commit"] = "local"
            configuration.statementTimeout = .seconds(120)
            try await lend(configuration) { client in
                try await client.query("CREATE TABLE note (id integer)")
                try await lend(careful) { careful in
                    let error = await expectPostgresError(.commitUnknown) {
                        _ = try await careful.withTransaction(tracksCommit: true) {
                            try await $0.query("INSERT INTO note VALUES (1)", timeout: .seconds(120))
                        }
                    }
                    let id = try #require(error?.transactionID)
                    let fate = try await client.resolveCommit(id, timeout: .seconds(120))
                    let rows = try await client.query("SELECT id FROM note")
                    #expect(fate == .committed && rows.count == 1)
                    #expect(careful.metrics.lost == 0)
                }
            }
        }
    }

    /// Writes that take effect by themselves, and wait for standbys.
    enum SingleWrite: String, CaseIterable {
        case statement, script, copy, batch, lease

        func run(_ client: PostgresClient, _ timeout: Duration) async throws {
            switch self {
            case .statement: try await client.query("INSERT INTO note VALUES (1)", timeout: timeout)
            case .script: try await client.runScript("INSERT INTO note VALUES (1)")
            case .copy:
                let rows = AsyncStream<[UInt8]> {
                    $0.yield(Array("1\n".utf8))
                    $0.finish()
                }
                try await client.copyIn("COPY note FROM STDIN", from: rows, timeout: timeout)
            case .batch: try await client.query("CREATE TABLE other AS SELECT 1 AS one", timeout: timeout)
            case .lease:
                try await client.withConnection { connection in
                    _ = try await connection.query("INSERT INTO note VALUES (1)", timeout: timeout)
                }
            }
        }
    }

    @Test(
        "T1: a write whose wait for its standbys was cancelled is unknown, though it took effect",
        .timeLimit(.minutes(15)), arguments: [true, false])
    func writeWithoutStandby(byTheClient: Bool) async throws {
        try await RestartableServer.with(settings: ["synchronous_standby_names = 'nobody'"]) { server in
            var configuration = server.configuration
            configuration.statementTimeout = .seconds(120)
            configuration.cancellationGrace = .seconds(60)
            let careful = configuration
            configuration.settings["synchronous_commit"] = "local"
            try await lend(configuration) { client in
                try await client.query("CREATE TABLE note (id integer)")
                try await lend(careful) { careful in
                    for write in SingleWrite.allCases {
                        // A script has no limit of its own.
                        let cancelsItself = byTheClient && write != .script
                        let task = Task {
                            try await write.run(careful, cancelsItself ? .seconds(1) : .seconds(120))
                        }
                        if !cancelsItself {
                            try await eventually("the server waits") {
                                let rows = try await client.query(
                                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                                return !rows.isEmpty
                            }
                        }
                        let error = await expectPostgresError(.commitUnknown) { try await task.value }
                        #expect(error?.mayHaveTakenEffect == true, "\(write)")
                        let table = write == .batch ? "other" : "note"
                        let count = try await client.query("SELECT count(*) FROM \(identifier: table)")
                        #expect(try count[0][0] == 1, "\(write)")
                        try await client.query("TRUNCATE note")
                    }
                    // The warning belongs to its statement alone.
                    try await expectUsable(careful)
                    #expect(careful.metrics.lost == 0)
                }
            }
        }
    }

    @Test("C12, D9: each wish finds its server, and a standby refuses writes", .timeLimit(.minutes(15)))
    func targets() async throws {
        try await withServers { primary, standby in
            for (target, isFollower) in [
                (PostgresConfiguration.TargetSession.readWrite, false), (.primary, false), (.readOnly, true),
                (.standby, true), (.preferStandby, true),
            ] {
                for servers in [[primary, standby], [standby, primary]] {
                    try await lend(configuration(servers, target)) { (client) async throws in
                        #expect(try await isStandby(client) == isFollower, "\(target)")
                    }
                }
            }
            try await lend(configuration([primary], .preferStandby)) { (client) async throws in
                #expect(try await isStandby(client) == false)
            }
            await expectPostgresError(.connectionFailed) {
                _ = try await PostgresClient.connect(configuration([standby], .readWrite))
            }
            // A pool for readers keeps its connections when it is asked to write.
            try await lend(configuration([standby], .readOnly)) { client in
                let error = await expectPostgresError(.server) { try await client.query("CREATE TABLE note (id int)") }
                #expect(error?.sqlState == .readOnlyTransaction)
                let inside = await expectPostgresError(.server) {
                    try await client.withTransaction { _ in
                        _ = try await client.query("CREATE TABLE note (id int)")
                    }
                }
                #expect(inside?.sqlState == .readOnlyTransaction)
                try await expectUsable(client)
                #expect(client.metrics.opened == 1)
            }
            try await readOnlyServer(primary, standby)
        }
    }

    /// A server that stops to take writes while sessions are open, as before a planned change of places.
    private func readOnlyServer(_ primary: RestartableServer, _ standby: RestartableServer) async throws {
        try await lend(configuration([primary, standby], .readWrite)) { client in
            try await client.query("CREATE TABLE note (id bigint PRIMARY KEY)")
            try await lend(configuration([primary], .any)) { administrator in
                func allowWrites(_ isOn: Bool) async throws {
                    // Servers take this also where they take no writes.
                    try await administrator.runScript(
                        "ALTER SYSTEM SET default_transaction_read_only = \(isOn ? "off" : "on")")
                    try await administrator.query("SELECT pg_reload_conf()")
                }
                try await allowWrites(false)
                let opened = client.metrics.opened
                try await eventually("a write is refused, and its connection goes") {
                    do {
                        try await client.query(
                            "INSERT INTO note VALUES (1) ON CONFLICT DO NOTHING", timeout: .seconds(30))
                    } catch let error as PostgresError {
                        #expect(error.sqlState == .readOnlyTransaction, "\(error)")
                        return client.metrics.closed > 0
                    }
                    return false
                }
                // A caller that asks meanwhile waits for a server that takes writes.
                let asking = Task { try await client.query("INSERT INTO note VALUES (2)") }
                try await eventually("attempts fail") { client.metrics.failedAttempts >= 2 }
                try await allowWrites(true)
                _ = try await asking.value
                #expect(client.metrics.opened > opened)
            }
        }
    }

    @Test(
        "C13, T3: a standby takes the place of a primary that is gone, and no commit was promised that it does not have",
        .enabled(if: LongTests.areOn), .timeLimit(.minutes(15)))
    func failover() async throws {
        try await withServers { primary, standby in
            let configuration = configuration([primary, standby], .readWrite)
            try await lend(configuration) { client in
                try await client.query("CREATE TABLE note (id bigint PRIMARY KEY)")
                // From here on a commit is answered when the standby has it.
                try await client.runScript("ALTER SYSTEM SET synchronous_standby_names = '*'")
                try await client.query("SELECT pg_reload_conf()")
                try await eventually("the standby is waited for") {
                    let rows = try await client.query(
                        "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
                    return try rows[0][0] == 1
                }
                let ledger = Ledger()
                let writers = (0..<8).map { writer in
                    Task {
                        var number = writer * 1_000_000
                        while !ledger.isOver {
                            await ledger.write(number, client)
                            number += 1
                        }
                    }
                }
                try await eventually("writes are answered") { ledger.state.withLock { $0.committed.count } > 200 }
                try await primary.signal(SIGKILL)
                try await standby.promote()
                let before = ledger.state.withLock { $0.committed.count }
                try await eventually("the new primary answers writes") {
                    ledger.state.withLock { $0.committed.count } > before + 200
                }
                ledger.end()
                for writer in writers { await writer.value }
                #expect(try await isStandby(client) == false)
                let rows = try await client.query("SELECT id FROM note")
                let found = Set(try rows.map { try #require(try $0.decode(0, as: Int.self)) })
                let (committed, failed, unknown) = ledger.state.withLock { ($0.committed, $0.failed, $0.unknown) }
                #expect(committed.isSubset(of: found))
                #expect(failed.isDisjoint(with: found))
                #expect(found.subtracting(committed).isSubset(of: unknown))
                // One for each connection at most.
                #expect(unknown.count <= 4)
            }
        }
    }

    /// The answers that writers got for their writes.
    private final class Ledger: Sendable {
        struct State {
            var committed: Set<Int> = []
            var failed: Set<Int> = []
            var unknown: Set<Int> = []
            var isOver = false
        }

        let state = Mutex(State())

        var isOver: Bool { state.withLock { $0.isOver } }

        func end() { state.withLock { $0.isOver = true } }

        func write(_ id: Int, _ client: PostgresClient) async {
            do {
                try await client.withTransaction { _ in
                    _ = try await client.query("INSERT INTO note VALUES (\(id))")
                }
                _ = state.withLock { $0.committed.insert(id) }
            } catch let error as PostgresError where error.code == .commitUnknown {
                _ = state.withLock { $0.unknown.insert(id) }
            } catch {
                _ = state.withLock { $0.failed.insert(id) }
            }
        }
    }

    @Test(
        "D9: a read of a standby that is in the way of the primary's cleaning is a failure that may be tried again",
        .enabled(if: LongTests.areOn), .timeLimit(.minutes(15)), arguments: [true, false])
    func conflictWithRecovery(whileAStatementRuns: Bool) async throws {
        try await withServers(settings: ["max_standby_streaming_delay = 100ms"]) { primary, standby in
            try await lend(configuration([primary], .primary)) { writer in
                try await writer.runScript("CREATE TABLE note (id bigint); INSERT INTO note VALUES (1), (2)")
                try await lend(configuration([standby], .standby)) { reader in
                    let attempts = Atomic(0)
                    try await eventually("the table has arrived") {
                        (try? await reader.query("SELECT count(*) = 2 AS is FROM note")[0][0]) == true
                    }
                    let count = try await reader.withTransaction(isolation: .repeatableRead, retry: .attempts(5)) { _ in
                        let count = try await reader.query("SELECT count(*) FROM note")[0].decode(0, as: Int.self)
                        if attempts.add(1, ordering: .relaxed).newValue == 1 {
                            try await writer.query("DELETE FROM note WHERE id = 1")
                            try await writer.query("VACUUM note")
                            if whileAStatementRuns {
                                try await reader.query("SELECT count(*), pg_sleep(60) FROM note")
                            } else {
                                let lost = reader.metrics.lost
                                try await eventually("the session is ended") { reader.metrics.lost > lost }
                                try await reader.query("SELECT 1")
                            }
                        }
                        return count
                    }
                    #expect(count == 1)
                    #expect(attempts.load(ordering: .relaxed) == 2)
                }
            }
        }
    }
}
