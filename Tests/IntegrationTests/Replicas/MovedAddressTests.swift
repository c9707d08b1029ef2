import Kindred
import KindredLive
import KindredPostgres
import KindredTesting
import Testing

/// An address that leads to another server than before, while connections to the former one are open.
@Suite(.database, .timeLimit(.minutes(15))) struct MovedAddressTests {
    private static let table = "CREATE TABLE person (id integer PRIMARY KEY, name text)"

    /// The way in which the former server takes no writes.
    enum Former: CaseIterable {
        /// It follows the new primary.
        case standby
        /// It was told so, before a standby took its place.
        case setting
    }

    /// Lends a configuration of an address, the servers before and after its move, and the move.
    private func withAddress(
        _ former: Former, schema: String = table,
        _ body: (
            _ address: PostgresConfiguration, _ former: RestartableServer, _ new: RestartableServer,
            _ move: (_ sessions: PostgresClient?) async throws -> Void
        ) async throws -> Void
    ) async throws {
        try await RestartableServer.with { primary in
            try await lend(primary.configuration) { try await $0.runScript(schema) }
            let standby = try await RestartableServer(following: primary)
            do {
                try await standby.start()
                let (before, after) = former == .standby ? (standby, primary) : (primary, standby)
                let proxy = try FaultProxy(to: before.configuration)
                defer { proxy.stop() }
                try await lend(standby.configuration) { reader in
                    try await eventually("the tables arrive") {
                        (try? await reader.query("SELECT FROM person")) != nil
                    }
                }
                try await body(proxy.configuration, before, after) { sessions in
                    if former == .setting {
                        try await lend(before.configuration) { administrator in
                            try await administrator.runScript("ALTER SYSTEM SET default_transaction_read_only = on")
                            try await administrator.query("SELECT pg_reload_conf()")
                        }
                        if let sessions {
                            try await eventually("all sessions know it") {
                                try await settings(of: sessions).allSatisfy { $0 == "on" }
                            }
                        }
                        try await standby.promote()
                    }
                    try proxy.lead(to: after.configuration)
                }
            } catch {
                try? await standby.remove()
                throw error
            }
            try await standby.remove()
        }
    }

    /// What ten sessions say at once.
    private func settings(of client: PostgresClient) async throws -> [String?] {
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask {
                    try await client.withConnection { connection in
                        try await eventually("ten sessions are open") { client.metrics.leased == 10 }
                        let rows = try await connection.query("SELECT current_setting('default_transaction_read_only')")
                        // None is given back before all are lent.
                        try await Task.sleep(for: .milliseconds(50))
                        return try rows[0].decode(0, as: String.self)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: Former.allCases) func itCostsNoError(former: Former) async throws {
        try await withAddress(former) { address, before, after, move in
            try await lend(address) { client in
                _ = try await settings(of: client)
                #expect(client.metrics.idle == 10)
                try await move(client)
                try await withThrowingDiscardingTaskGroup { group in
                    for id in 0..<40 {
                        group.addTask {
                            if id.isMultiple(of: 4) {
                                let line = AsyncStream<[UInt8]> { lines in
                                    lines.yield(Array("\(id)\tann\n".utf8))
                                    lines.finish()
                                }
                                try await client.copyIn("COPY person FROM STDIN", from: line)
                            } else if id.isMultiple(of: 5) {
                                try await client.withTransaction(retry: .attempts(4)) { _ in
                                    _ = try await client.query("INSERT INTO person VALUES (\(id), 'ann')")
                                }
                            } else {
                                try await client.query("INSERT INTO person VALUES (\(id), 'ann')")
                            }
                            // What was written is read.
                            let found = try await client.query("SELECT name FROM person WHERE id = \(id)")
                            #expect(found.count == 1)
                        }
                    }
                }
                // Every older connection was asked.
                #expect(try await settings(of: client).allSatisfy { $0 == "off" })
                #expect(client.metrics.opened <= 20 && client.metrics.failedAttempts == 0)
                try await lend(after.configuration) { (new) async throws in
                    #expect(try await new.value("SELECT count(*) FROM person") == 40)
                }
                if former == .setting {
                    try await lend(before.configuration) { (old) async throws in
                        #expect(try await old.value("SELECT count(*) FROM person") == 0)
                    }
                }
            }
        }
    }

    @Test func callsOfContextsCostNoError() async throws {
        try await withAddress(.standby) { address, _, _, move in
            // Each call is the first to meet the former server.
            let calls: [(DatabaseContext) async throws -> Void] = [
                { _ = try await $0.create("person", ["id": 1, "name": "ann"]) },
                { context in
                    let bob = try context.add("person", ["id": 2, "name": "bob"])
                    try await context.save()
                    #expect(try await context.get("person", 2) === bob)
                },
                { context in
                    try await context.transaction(retry: .attempts(4)) {
                        _ = try await context.create("person", ["id": 3, "name": "eve"])
                    }
                },
            ]
            var databases: [Database] = []
            for _ in calls { databases.append(try await Database.connect(address)) }
            try await move(nil)
            for (database, call) in zip(databases, calls) {
                let context = database.makeContext()
                try await call(context)
                #expect(try await context.fetch("person").all().count >= 1)
                await database.close()
            }
        }
    }

    @Test func aServerWithoutWritesCostsOneConnectionASecond() async throws {
        try await RestartableServer.with { server in
            try await lend(server.configuration) { administrator in
                try await administrator.runScript(
                    """
                    \(Self.table); INSERT INTO person VALUES (1, 'ann'); CREATE ROLE reader LOGIN;
                    GRANT ALL ON person TO reader; ALTER ROLE reader SET default_transaction_read_only = on
                    """)
            }
            var configuration = server.configuration
            configuration.user = "reader"
            try await lend(configuration) { (client) async throws in
                let clock = ContinuousClock()
                let start = clock.now
                for _ in 0..<200 {
                    let error = await expectPostgresError(.server) {
                        try await client.query("INSERT INTO person VALUES (2, 'bob')")
                    }
                    #expect(error?.sqlState == .readOnlyTransaction && error?.mayHaveTakenEffect == false)
                    // Reads go on.
                    #expect(try await client.value("SELECT count(*) FROM person") == 1)
                }
                let opened = client.metrics.opened - 1
                #expect(opened >= 1 && opened <= Int((clock.now - start).components.seconds) + 1)
            }
        }
    }

    @Test func whatTheProgramMadeReadOnlyCostsNoConnection() async throws {
        try await withClient { client in
            func refused(_ body: (PostgresClient) async throws -> Void) async throws {
                let error = await expectPostgresError(.server) { try await body(client) }
                #expect(error?.sqlState == .readOnlyTransaction)
                #expect(client.metrics.opened == 1 && client.metrics.connecting == 0)
            }
            try await refused {
                _ = try await $0.withTransaction(readOnly: true) {
                    try await $0.query("CREATE TABLE made (id integer)")
                }
            }
            try await refused {
                _ = try await $0.withConnection { connection in
                    try await connection.query("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
                    try await connection.query("CREATE TABLE made (id integer)")
                }
            }
            try await refused {
                _ = try await $0.withTransaction {
                    try await $0.query("SET TRANSACTION READ ONLY")
                    try await $0.query("CREATE TABLE made (id integer)")
                }
            }
            var configuration = client.configuration
            configuration.settings["default_transaction_read_only"] = "on"
            try await lend(configuration) { reader in
                for _ in 0..<3 {
                    let error = await expectPostgresError(.server) {
                        try await reader.query("CREATE TABLE made (id integer)")
                    }
                    #expect(error?.sqlState == .readOnlyTransaction)
                    #expect(reader.metrics.opened == 1 && reader.metrics.connecting == 0)
                }
            }
        }
    }

    @Test func followersGoOn() async throws {
        let schema = FaultWorld.schema + "; " + Self.table
        try await RestartableServer.with { primary in
            try await lend(primary.configuration) { client in
                try await client.runScript(schema)
                try await Tracking(client).install()
                try await Tracking(client).enable(FaultWorld.tables + ["mark"])
            }
            let standby = try await RestartableServer(following: primary)
            do {
                try await standby.start()
                try await follow(primary, standby)
            } catch {
                try? await standby.remove()
                throw error
            }
            try await standby.remove()
        }
    }

    private func follow(_ primary: RestartableServer, _ standby: RestartableServer) async throws {
        let proxy = try FaultProxy(to: primary.configuration)
        defer { proxy.stop() }
        let theirs = try FaultProxy(to: primary.configuration)
        defer { theirs.stop() }
        var single = theirs.configuration
        single.pool.maximumConnections = 1
        try await lend(single) { other in
            let database = try await Database.connect(proxy.configuration)
            do {
                var followers = try await Followers(database, seenBy: other)
                try await other.query("INSERT INTO item VALUES (100, 1, 1)")
                try await followers.expectAgreement()
                // The server stops to take writes; what an administrator writes all the same is told.
                try await lend(primary.configuration) { administrator in
                    try await administrator.runScript("ALTER SYSTEM SET default_transaction_read_only = on")
                    try await administrator.query("SELECT pg_reload_conf()")
                    let failures = database.tracking.metrics.readerStatements
                    for id in Int32(101)..<106 {
                        try await administrator.withTransaction(readOnly: false) {
                            try await $0.query("INSERT INTO item VALUES (\(id), 1, 1)")
                        }
                        try await Task.sleep(for: .milliseconds(300))
                    }
                    #expect(database.tracking.metrics.readerStatements > failures)
                    try await eventually("the standby has all") {
                        let behind = """
                            SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_flush_lsn()
                            """ as SQL
                        return try await administrator.value(behind) == 1
                    }
                }
                try await standby.promote()
                for proxy in [proxy, theirs] { try proxy.lead(to: standby.configuration) }
                other.renewConnections()
                // Another program writes; this one only looks.
                try await other.query("INSERT INTO item VALUES (200, 1, 1)")
                try await followers.expectAgreement(after: .init(.foreignCursor, "item", "leaf", "parent"))
                try await other.query("UPDATE item SET value = 7 WHERE id = 1")
                try await followers.expectAgreement()
            } catch {
                await database.close(timeout: .zero)
                throw error
            }
            await database.close(timeout: .seconds(1))
        }
    }
}
