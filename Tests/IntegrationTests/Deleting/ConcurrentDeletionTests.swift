import Kindred
import KindredTesting
import TestSupport
import Testing

/// Deletions by condition beside transactions that change the same rows.
@Suite struct ConcurrentDeletionTests {
    private static let schema = """
        CREATE TABLE visitor (id integer PRIMARY KEY, name text);
        CREATE TABLE session (
            id integer PRIMARY KEY, is_over boolean NOT NULL, visitor_id integer REFERENCES visitor);
        INSERT INTO visitor VALUES (1, 'Ann');
        INSERT INTO session SELECT i, true, 1 FROM generate_series(1, 4) AS i;
        """

    /// One DELETE, with a joined table, with a limit, and with a hook, for which the rows are read first.
    private static let ways: [(condition: String, limit: Int?, isHooked: Bool)] = [
        ("is_over == true", nil, false), ("is_over == true AND visitor.name == 'Ann'", nil, false),
        ("is_over == true", 4, false), ("is_over == true", nil, true),
    ]

    @Test(.database(.sql(schema)), arguments: ways)
    func aRowThatFitsNoLongerStays(_ condition: String, _ limit: Int?, _ isHooked: Bool) async throws {
        try await withDatabase { database, context, other in
            if isHooked { try database.beforeDeletion(of: "session") { _ in } }
            let deletion = try await other.withTransaction { transaction in
                try await transaction.query("UPDATE session SET is_over = false WHERE id = 2")
                let deletion = Task.detached {
                    let request = try context.fetch("session").where(condition).sorted("id")
                    return try await (limit.map { request.limit($0) } ?? request).delete()
                }
                try await eventually("the deletion waits") {
                    try await transaction.query(
                        "SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"
                    ).count == 1
                }
                return deletion
            }
            #expect(try await deletion.value == 3)
            #expect(try await other.values("SELECT id FROM session") == [2])
        }
    }

    @Test(.database(.sql(schema)), arguments: [false, true])
    func rowsThatOthersWorkOnAreLeftOut(isHooked: Bool) async throws {
        try await withDatabase { database, context, other in
            if isHooked { try database.beforeDeletion(of: "session") { _ in } }
            try await other.withTransaction { transaction in
                try await transaction.query("SELECT FROM session WHERE id = 1 FOR UPDATE")
                let count = try await context.transaction {
                    try await context.fetch("session").sorted("id").limit(1).lock(.forUpdate, .skipLocked).delete()
                }
                #expect(count == 1)
            }
            #expect(try await other.values("SELECT id FROM session ORDER BY id") == [1, 3, 4])
        }
    }

    /// To lock rows takes the right to change them.
    @Test(.database(.sql(schema))) func aRoleThatMayNotChangeRowsMayDeleteThem() async throws {
        let role = "cleaner_\(UInt32.random(in: 0..<UInt32.max))"
        try await withDatabase { _, _, admin in
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await admin.query("GRANT SELECT, DELETE ON session, visitor TO \(identifier: role)")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            let database = try await Database.connect(configuration)
            let sessions = try database.makeContext().fetch("session").sorted("id")
            #expect(try await sessions.limit(1).delete() == 1)
            #expect(try await sessions.where("visitor.name == 'Ann' AND id < 4").delete() == 2)
            await database.close()
            #expect(try await admin.values("SELECT id FROM session") == [4])
            try await admin.query("DROP OWNED BY \(identifier: role)")
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }
}
