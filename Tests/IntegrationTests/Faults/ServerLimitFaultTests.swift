import Foundation
import KindredPostgres
import KindredTesting
import Testing

/// Rows of the fault catalogue about what a server runs out of, on servers of their own, and about its limits in time.
@Suite(.database("CREATE TABLE note (id integer PRIMARY KEY, text text)", timeLimit: .seconds(900)))
struct ServerLimitFaultTests {
    /// Expects that the server refuses something for want of room, and that the connection goes on.
    private func expectRefusal(
        _ client: PostgresClient, _ code: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async throws {
        let error = await expectPostgresError(.server, sourceLocation: sourceLocation, body)
        #expect(error?.sqlState?.rawValue == code, sourceLocation: sourceLocation)
        let before = client.metrics.lost
        try await expectUsable(client, sourceLocation: sourceLocation)
        #expect(before == 0 && client.metrics.lost == 0, sourceLocation: sourceLocation)
    }

    @Test("C7, T15, T18: few sessions, transactions of two phases and few locks") func smallServer() async throws {
        let settings = [
            "max_connections = 6", "superuser_reserved_connections = 3", "max_prepared_transactions = 2",
            "max_locks_per_transaction = 10", "autovacuum = off",
        ]
        try await RestartableServer.with(settings: settings) { server in
            var configuration = server.configuration
            configuration.pool.maximumConnections = 1
            try await lend(configuration) { admin in
                try await admin.runScript("CREATE ROLE app LOGIN; CREATE TABLE note (id integer PRIMARY KEY)")
                try await reservedSlots(server, admin)
                try await preparedTransactions(admin)
                try await expectRefusal(admin, "53200") {
                    try await admin.query("SELECT pg_advisory_xact_lock(i) FROM generate_series(1, 1000000) AS i")
                }
            }
        }
    }

    /// C7: the pool keeps its connections, and serves every caller over them.
    private func reservedSlots(_ server: RestartableServer, _ admin: PostgresClient) async throws {
        var configuration = server.configuration
        configuration.user = "app"
        configuration.pool.maximumConnections = 5
        // The watching superuser has one of the three connections that are not reserved.
        try await lend(configuration) { client in
            let other = Task.detached { [configuration] in
                try await lend(configuration) { other in
                    try await other.query("SELECT pg_advisory_lock(1)")
                    try await other.query("SELECT pg_advisory_lock(2)")
                }
            }
            try await admin.withConnection { holder in
                try await holder.query("SELECT pg_advisory_lock(2)")
                try await eventually("the other one waits") {
                    let rows = try await holder.query(
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                    return try rows[0][0] == 1
                }
                let error = await expectPostgresError(.connectionFailed) {
                    _ = try await PostgresClient.connect(configuration)
                }
                #expect(error?.sqlState == .tooManyConnections)
                let served = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            try await client.withTransaction { transaction in
                                try await transaction.query("SELECT \(number)")[0].decode(0, as: Int.self) ?? 0
                            }
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(served == 190 && client.metrics.opened == 1)
                try await lend(server.configuration) { try await expectUsable($0) }
                try await holder.query("SELECT pg_advisory_unlock(2)")
            }
            try await other.value
        }
    }

    /// T15: a transaction that is only prepared takes effect when it is told to, over whatever connection.
    private func preparedTransactions(_ client: PostgresClient) async throws {
        try await client.withConnection { connection in
            for statement in ["BEGIN", "INSERT INTO note VALUES (1)", "PREPARE TRANSACTION 'one'"] {
                try await connection.query("\(unsafeRaw: statement)")
            }
        }
        #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 0)
        try await client.query("COMMIT PREPARED 'one'")
        #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 1)
        // The tag is the server's only word that nothing was prepared.
        #expect(try await client.query("PREPARE TRANSACTION 'none'").commandTag == "ROLLBACK")
        try await expectRefusal(client, "0A000") {
            try await client.withConnection { connection in
                for statement in ["BEGIN", "LISTEN channel", "PREPARE TRANSACTION 'two'"] {
                    try await connection.query("\(unsafeRaw: statement)")
                }
            }
        }
    }

    @Test("T15: where transactions of two phases are off, that is the servers error") func noPreparedTransactions()
        async throws
    {
        try await withClient(maximumConnections: 1) { client in
            let rows = try await client.query("SHOW max_prepared_transactions")
            guard try rows[0][0]?.description == "0" else { return }
            try await expectRefusal(client, "55000") {
                try await client.withConnection { connection in
                    for statement in ["BEGIN", "INSERT INTO note VALUES (1)", "PREPARE TRANSACTION 'one'"] {
                        try await connection.query("\(unsafeRaw: statement)")
                    }
                }
            }
            #expect(try await client.query("SELECT count(*) FROM note")[0][0] == 0)
        }
    }

    @Test("T17: a limit on temporary files is the statements own error") func temporaryFiles() async throws {
        try await withClient(
            maximumConnections: 1,
            configure: { $0.settings = ["temp_file_limit": "64kB", "work_mem": "64kB"] }
        ) { client in
            try await expectRefusal(client, "53400") {
                try await client.query("SELECT md5(i::text) FROM generate_series(1, 100000) AS i ORDER BY 1")
            }
        }
    }

    @Test(
        "T17: a full disk is the statements own error, in a transaction, in a COPY and at its end",
        .enabled("Only root can make a small disk") { await MountNamespace.isAllowed })
    func fullDisk() async throws {
        try await RestartableServer.with(hasSmallDisk: true) { server in
            var configuration = server.configuration
            configuration.pool.maximumConnections = 1
            try await lend(configuration) { client in
                try await client.query("CREATE TABLESPACE small LOCATION '\(unsafeRaw: server.smallDisk)'")
                try await client.query("CREATE TABLE big (text text) TABLESPACE small")
                try await client.query("ALTER TABLE big ALTER text SET STORAGE EXTERNAL")
                try await expectRefusal(client, "53100") {
                    try await client.query(
                        "INSERT INTO big SELECT repeat(md5(i::text), 1000) FROM generate_series(1, 1000) AS i")
                }
                try await expectRefusal(client, "53100") {
                    let piece = Array((String(repeating: "x", count: 30_000) + "\n").utf8)
                    let pieces = AsyncStream<[UInt8]> { continuation in
                        for _ in 0..<1_000 { continuation.yield(piece) }
                        continuation.finish()
                    }
                    _ = try await client.copyIn("COPY big FROM STDIN", from: pieces)
                }
                try await client.query("DROP TABLE big")
                try await client.query("CREATE TABLE big (text text) TABLESPACE small")
                try await client.query("INSERT INTO big VALUES ('fits')")
                #expect(try await client.query("SELECT count(*) FROM big")[0][0] == 1)
                #expect(client.metrics.opened == 1)
            }
        }
    }

    @Test(
        "T17: a server without room for its write-ahead log ends, for its clients as any other that crashes",
        .enabled("Only root can make a small disk") { await MountNamespace.isAllowed })
    func fullLog() async throws {
        try await RestartableServer.with(settings: ["max_wal_size = 2MB", "wal_level = replica"], hasSmallLog: true) {
            server in
            var configuration = server.configuration
            configuration.pool.maximumConnections = 2
            configuration.pool.acquireTimeout = .seconds(1)
            try await lend(configuration) { client in
                try await client.query("CREATE TABLE big (text text)")
                // A reader that never comes.
                try await client.query("SELECT pg_create_physical_replication_slot('absent', true)")
                func insert() async throws {
                    try await client.query(
                        "INSERT INTO big SELECT repeat(md5(i::text), 60) FROM generate_series(1, 1000) AS i")
                }
                await expectPostgresError(.connectionLost) {
                    for _ in 0..<100 { try await insert() }
                }
                // It can hardly start: callers learn so within their time, and nothing hangs. Where a little room
                // was left it does start, and ends with the next rows.
                var last = "rows were inserted"
                try await eventually("the server is gone; at last: \(last)") {
                    do {
                        try await insert()
                        return false
                    } catch let error as PostgresError {
                        last = "\(error)"
                        return error.code == .connectionFailed
                    }
                }
            }
        }
    }

    @Test(
        "T11: a transaction that takes too long is ended by the server, and its limit is named",
        arguments: [("idle_in_transaction_session_timeout", "25P03"), ("transaction_timeout", "25P04")])
    func longTransactions(setting: String, code: String) async throws {
        try await withClient { other in
            let known = try await other.query("SELECT 1 FROM pg_settings WHERE name = \(setting)")
            // PostgreSQL 17 brought the second one.
            guard known.count == 1 else { return }
            try await withClient(maximumConnections: 1, configure: { $0.settings[setting] = "2s" }) { client in
                let error = await expectPostgresError(.connectionLost) {
                    try await client.withTransaction { transaction in
                        try await transaction.query("INSERT INTO note VALUES (1)")
                        try await eventually("the session has ended") { client.metrics.lost == 1 }
                        try await transaction.query("INSERT INTO note VALUES (2)")
                    }
                }
                #expect(error?.sqlState?.rawValue == code)
                #expect(error?.server?.message.contains("timeout") == true)
                try await expectUsable(client)
                #expect(try await other.query("SELECT count(*) FROM note")[0][0] == 0)
            }
        }
    }
}
