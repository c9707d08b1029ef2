import KindredPostgres
import KindredTesting
import Testing

/// Rows T, S and D of the fault catalogue that the server's own refusals make.
@Suite(
    .database(
        """
        CREATE TABLE note (id integer PRIMARY KEY, text varchar(5), parent integer REFERENCES note,
            CONSTRAINT positive CHECK (id >= 0));
        INSERT INTO note VALUES (1, 'one');
        """))
struct SchemaAndDataFaultTests {
    /// Waits until two transactions have written something.
    private func twoTransactionsHaveWritten() async throws {
        try await withClient { other in
            try await eventually("two transactions have written") {
                let writers = try await other.query(
                    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL")
                return writers.count == 2
            }
        }
    }

    /// Expects that a statement is refused with a code, and that the connection goes on.
    private func expectRefusal(
        _ client: PostgresClient, _ sql: SQL, _ code: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await expectPostgresError(.server, sourceLocation: sourceLocation) { try await client.query(sql) }
        #expect(error?.sqlState?.rawValue == code, sourceLocation: sourceLocation)
        try await expectUsable(client, sourceLocation: sourceLocation)
        #expect(client.metrics.opened == 1, sourceLocation: sourceLocation)
    }

    @Test("D1: constraints are named") func constraints() async throws {
        try await withClient(maximumConnections: 1) { client in
            let cases: [(SQL, SQLState, String?)] = [
                ("INSERT INTO note VALUES (1)", .uniqueViolation, "note_pkey"),
                ("INSERT INTO note VALUES (-1)", .checkViolation, "positive"),
                ("INSERT INTO note VALUES (2, 'x', 9)", .foreignKeyViolation, "note_parent_fkey"),
                ("INSERT INTO note VALUES (NULL)", .notNullViolation, nil),
            ]
            for (sql, state, constraint) in cases {
                let error = await expectPostgresError(.server) { try await client.query(sql) }
                #expect(error?.sqlState == state)
                #expect(error?.server?.constraint == constraint)
                #expect(error?.server?.table == "note")
            }
        }
    }

    @Test("D2, D4: what the server refuses leaves the connection as it was") func refusals() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await expectRefusal(
                client, "INSERT INTO note VALUES (5), (5) ON CONFLICT (id) DO UPDATE SET text = 'x'", "21000")
            try await expectRefusal(client, "SELECT 2147483647::int4 + 1", "22003")
            try await expectRefusal(client, "SELECT 1 / 0", "22012")
            try await expectRefusal(client, "INSERT INTO note VALUES (3, 'too long')", "22001")
            try await expectRefusal(client, "SELECT '{'::json", "22P02")
            try await expectRefusal(client, "SELECT '\\u0000'::jsonb", "22P02")
            try await expectRefusal(client, "SELECT 'a' ~ '('", "2201B")
            try await expectRefusal(client, "SELECT 1 LIMIT -1", "2201W")
        }
    }

    @Test("D5: more than 65,535 parameters are refused before anything is sent") func tooManyParameters() async throws {
        var bindings = Bindings()
        for number in 0..<65_535 { try bindings.append(.integer(Int64(number)), as: .int4) }
        #expect(throws: PostgresError.self) { try bindings.append(.integer(1), as: .int4) }
    }

    @Test("T7: of two transactions that wait for each other one is refused, and both end") func deadlock() async throws
    {
        try await withClient(maximumConnections: 2, configure: { $0.settings["deadlock_timeout"] = "50ms" }) { client in
            try await client.query("INSERT INTO note VALUES (2)")
            let runs = try await withThrowingTaskGroup(of: Int.self) { group in
                for order in [[1, 2], [2, 1]] {
                    group.addTask {
                        var runs = 0
                        try await client.withTransaction(retry: .attempts(5)) { _ in
                            runs += 1
                            for id in order {
                                try await client.query("UPDATE note SET text = 'x' WHERE id = \(id)")
                                if runs == 1, id == order[0] { try await twoTransactionsHaveWritten() }
                            }
                        }
                        return runs
                    }
                }
                return try await group.reduce(0, +)
            }
            // Three, unless the second attempt takes its first row before the server has woken the other transaction up.
            #expect((3...10).contains(runs))
        }
    }

    @Test("T14: what cannot run in a transaction says so") func notInTransactions() async throws {
        try await withClient(maximumConnections: 1) { client in
            let error = await expectPostgresError(.server) {
                _ = try await client.withTransaction { try await $0.query("VACUUM note") }
            }
            #expect(error?.sqlState?.rawValue == "25001")
            try await expectUsable(client)
        }
    }

    @Test("T13: a lock that is not given in time is an error, and the connection goes on") func lockTimeout()
        async throws
    {
        try await withClient(maximumConnections: 1, configure: { $0.settings["lock_timeout"] = "30ms" }) { client in
            try await withClient { other in
                try await other.withTransaction { _ in
                    try await other.query("LOCK TABLE note")
                    try await expectRefusal(client, "ALTER TABLE note ADD more text", "55P03")
                }
            }
        }
    }

    @Test("S2: a plan that is gone or does not fit any more is made anew, even in a shared pipeline")
    func healing() async throws {
        try await withClient(maximumConnections: 1) { client in
            for round in 0..<5 {
                try await client.query("ALTER TABLE note ADD \(identifier: "c\(round)") integer")
                if round % 2 == 0 { try await client.query("DEALLOCATE ALL") }
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<10 {
                        group.addTask { try await client.query("SELECT * FROM note WHERE id = \(1)")[0].count }
                    }
                    for try await count in group { #expect(count == 4 + round) }
                }
            }
            #expect(client.metrics.opened == 1)
        }
    }

    @Test("S1: inside of a transaction a plan that does not fit is an error with its code") func staleInTransaction()
        async throws
    {
        try await withClient(maximumConnections: 1) { client in
            let sql: SQL = "SELECT * FROM note"
            try await client.query(sql)
            try await withClient { try await $0.query("ALTER TABLE note ADD more integer") }
            let error = await expectPostgresError(.server) {
                _ = try await client.withTransaction { try await $0.query(sql) }
            }
            #expect(error?.sqlState == .featureNotSupported)
            #expect(try await client.query(sql).columns.count == 4)
        }
    }

    @Test("S5: a type that is made anew heals, though the server says XX000") func recreatedType() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.runScript("CREATE TYPE mood AS ENUM ('a')")
            let sql: SQL = "SELECT \("a")::mood AS mood"
            for _ in 0..<3 {
                #expect(try await client.query(sql)[0]["mood"]?.description == "a")
                try await withClient { try await $0.runScript("DROP TYPE mood; CREATE TYPE mood AS ENUM ('a')") }
            }
        }
    }

    @Test("S6: a temporary table in the way of another is seen by its own session only") func shadowing() async throws {
        try await withClient(maximumConnections: 2) { client in
            try await client.withConnection { connection in
                try await connection.query("CREATE TEMP TABLE note (other text)")
                #expect(try await connection.query("SELECT * FROM note").columns.count == 1)
            }
            for _ in 0..<4 { #expect(try await client.query("SELECT * FROM note").columns.count == 3) }
        }
    }

    @Test("S8: more columns than the server has room for is the server's error") func tooManyColumns() async throws {
        try await withClient(maximumConnections: 1) { client in
            let columns = (0..<1_665).map { "\($0)" }.joined(separator: ",")
            try await expectRefusal(client, "SELECT \(unsafeRaw: columns)", "54011")
        }
    }

    @Test("D6: text that the server cannot hold is refused on both sides") func badText() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await expectRefusal(client, "SELECT convert_from('\\xff'::bytea, 'UTF8')", "22021")
            await expectPostgresError(.invalidParameter) { try await client.query("SELECT \("a\0b")") }
        }
    }

    @Test("D8: a privilege that is taken away and a role that is left set") func privileges() async throws {
        try await withClient(maximumConnections: 1) { client in
            let role = "reader_\(UInt32.random(in: 0..<UInt32.max))"
            try await client.query("CREATE ROLE \(identifier: role)")
            try await client.withConnection { connection in
                try await connection.query("SET ROLE \(identifier: role)")
                let error = await expectPostgresError(.server) { try await connection.query("SELECT * FROM note") }
                #expect(error?.sqlState == .insufficientPrivilege)
            }
            let rows = try await client.query("SELECT current_user = session_user")
            #expect(try rows[0][0] == true)
            try await client.query("DROP ROLE \(identifier: role)")
        }
    }
}
