import Foundation
import Kindred
import Testing

/// Servers that are silent or take no writes, and commits that no server has answered.
@Suite(.timeLimit(.minutes(30))) struct UnusableServerTests {
    @Test func anUnansweredCommitIsKnownOnItsTimelineAlone() async throws {
        try await ReplicaScene.with { scene in
            let client = scene.database.client
            // The commit is done here, and its answer waits.
            try await scene.writer.runScript("ALTER SYSTEM SET synchronous_standby_names = 'none'")
            try await scene.writer.query("SELECT pg_reload_conf()")
            try await eventually("commits wait") {
                try await scene.writer.value("SHOW synchronous_standby_names") == "none"
            }
            // The server's processes read the setting at times of their own: the first commits may not wait yet.
            func isWaiting() async throws -> Bool {
                try await scene.writer.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1
            }
            try await eventually("a commit waits") {
                let probe = Task { try await scene.database.client.query("INSERT INTO person (name) VALUES ('probe')") }
                try await Task.sleep(for: .milliseconds(200))
                let isWaiting = try await isWaiting()
                let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                try await scene.writer.runScript("SELECT pg_cancel_backend(pid) \(waiting)")
                _ = try? await probe.value
                return isWaiting
            }
            let write = Task {
                try await client.withTransaction(tracksCommit: true) { _ in
                    _ = try await client.query("INSERT INTO person (name) VALUES ('eve')")
                }
            }
            try await eventually("the commit waits") { try await isWaiting() }
            try await scene.primary.signal(SIGKILL)
            let error = await expectPostgresError(.commitUnknown) { try await write.value }
            let id = try #require(error?.transactionID)
            try await scene.primary.start()
            let fate = try await client.resolveCommit(id, timeout: .seconds(120))
            #expect(fate == .committed)
            #expect(try await scene.writer.value("SELECT count(*) FROM person WHERE name = 'eve'") == 1)
            try await scene.failOver()
            // The number may be given to another transaction there.
            let later = try await client.resolveCommit(id, timeout: .seconds(120))
            #expect(later == .unknown)
        }
    }

    @Test func aPrimaryThatBecomesReadOnlyIsReadAndNotWrittenTo() async throws {
        try await ReplicaScene.with { scene in
            func allowWrites(_ areAllowed: Bool) async throws {
                try await scene.writer.runScript(
                    "ALTER SYSTEM SET default_transaction_read_only = \(areAllowed ? "off" : "on")")
                try await scene.writer.query("SELECT pg_reload_conf()")
            }
            let context = scene.database.makeContext()
            let ann = try await context.get("person", 1)
            try await ann.setValue(1, forKey: "age")
            try await allowWrites(false)
            var age = 1
            try await eventually("writes are refused") {
                age += 1
                do {
                    try await ann.setValue(age, forKey: "age")
                } catch let error as KindredError {
                    #expect(error.code == .readOnlyTransaction && !error.mayHaveTakenEffect)
                    return true
                }
                return false
            }
            #expect(try await context.fetch("person").where("age = %@", age - 1).count() == 1)
            try await eventually("the replica is read") {
                try await scene.isOnReplica(scene.database.makeContext(reading: .automatic))
            }
            try await allowWrites(true)
            try await eventually("writes are taken") { (try? await ann.setValue(age, forKey: "age")) != nil }
            #expect(try await scene.writer.value("SELECT count(*) FROM person WHERE age = \(age)") == 1)
        }
    }

    @Test func aReplicaThatTheNetworkSwallowsDelaysNoReadForLong() async throws {
        try await ReplicaScene.with { scene in
            let proxy = try FaultProxy(to: scene.servers[0].configuration)
            defer { proxy.stop() }
            let database = try await Database.connect(
                primary: scene.primary.configuration, replicas: [proxy.configuration])
            func isOnReplica() async throws -> Bool {
                try await scene.isOnReplica(database.makeContext(reading: .automatic))
            }
            try await eventually("the replica is read") { try await isOnReplica() }
            async let slow = database.makeContext(reading: .automatic).fetch("slow").all()
            try await eventually("the read runs") {
                let running = try await scene.readers[0].query(
                    """
                    SELECT FROM pg_stat_activity
                    WHERE state = 'active' AND query LIKE '%"slow"%' AND pid <> pg_backend_pid()
                    """)
                return !running.isEmpty || database.readMetrics?.primary[.noReplica] != nil
            }
            proxy.set { _, _ in .drop }
            // On the replica it takes minutes.
            #expect(try await slow.count == 2)
            for _ in 0..<20 { #expect(try await !isOnReplica()) }
            proxy.set { _, _ in .forward }
            try await eventually("the replica is read again") { try await isOnReplica() }
            await database.close()
        }
    }

    @Test func anAttemptToReachASilentPrimaryEndsWhenAnotherOneIsKnown() async throws {
        try await ReplicaScene.with { scene in
            let proxy = try FaultProxy(to: scene.primary.configuration)
            defer { proxy.stop() }
            var configuration = proxy.configuration
            // Nothing but the samples ends the attempt within the limit of the test.
            configuration.connectTimeout = .seconds(7_200)
            configuration.pool.acquireTimeout = .seconds(7_200)
            configuration.statementTimeout = .seconds(7_200)
            let database = try await Database.connect(
                primary: configuration, replicas: [scene.servers[0].configuration])
            let client = database.client
            proxy.set { _, _ in .drop }
            client.renewConnections()
            let write = Task { try await client.query("INSERT INTO person (name) VALUES ('eve')") }
            try await eventually("it connects") { client.metrics.connecting > 0 }
            try await scene.servers[0].promote()
            _ = try await write.value
            let names = "SELECT count(*) FROM person WHERE name = 'eve'" as SQL
            #expect(try await scene.readers[0].value(names) == 1)
            #expect(try await scene.writer.value(names) == 0)
            await database.close()
        }
    }

    @Test func aPrimaryThatTheNetworkSwallowsIsReplaced() async throws {
        try await ReplicaScene.with { scene in
            let proxy = try FaultProxy(to: scene.primary.configuration)
            defer { proxy.stop() }
            var configuration = proxy.configuration
            configuration.endpoints += scene.servers[0].configuration.endpoints
            configuration.targetSession = .primary
            // Each of the two servers has half of it.
            configuration.connectTimeout = .seconds(10)
            try await lend(configuration) { client in
                try await client.query("INSERT INTO person (name) VALUES ('before')")
                proxy.set { _, _ in .drop }
                try await scene.servers[0].promote()
                try await eventually("the new primary is written to") {
                    do {
                        try await client.query("INSERT INTO person (name) VALUES ('after')", timeout: .seconds(5))
                    } catch let error as PostgresError {
                        // Over the open connection it may have been written.
                        #expect(error.code == .timeout || error.code == .connectionFailed, "\(error)")
                        return false
                    }
                    return true
                }
                let names = "SELECT count(*) FROM person WHERE name = 'after'" as SQL
                #expect(try await scene.readers[0].value(names) == 1)
                #expect(try await scene.writer.value(names) == 0)
                // A former primary that can be reached again is not written to.
                proxy.set { _, _ in .forward }
                client.renewConnections()
                try await client.query("INSERT INTO person (name) VALUES ('after')")
                #expect(try await scene.readers[0].value(names) == 2)
            }
        }
    }
}
