import Kindred
import KindredLive
import KindredTesting
import Testing

/// A superuser's event triggers over the installation of an ordinary role.
@Suite(.database(.sql("CREATE TABLE person (id integer PRIMARY KEY)"))) struct EventTriggerTests {
    /// Lends a role that has installed change tracking and tracks a table of its own.
    private func withInstallation(_ body: (HostileRole) async throws -> Void) async throws {
        try await HostileRole.lend { role in
            try await role.allowCreating()
            try await role.client.runScript(
                "CREATE SCHEMA own; CREATE TABLE own.song (id integer PRIMARY KEY, name text);")
            try await Tracking(role.client).install()
            try await Tracking(role.client).enable("own.song")
            try await body(role)
        }
    }

    private func expectTold(_ role: HostileRole, _ ddl: String, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let cursor = try await role.client.query("SELECT kindred.tracking_begin()::text")[0].decode(0, as: String.self)
        try await role.client.query("\(unsafeRaw: ddl)")
        for round in 1...2 { try await role.client.query("SELECT kindred.tracking_check(), \(round)::int8") }
        let told = try await role.client.value(
            """
            SELECT count(*) FROM kindred.tracking_read(\(cursor ?? "")::text::pg_snapshot) AS r
            WHERE r.op = 'S' AND r.relation = 'own.song'::regclass
            """)
        #expect(told == .integer(1), "\(ddl)", sourceLocation: sourceLocation)
    }

    @Test func theyAreAllThatASuperuserMakes() async throws {
        try await withInstallation { role in
            #expect(try await Tracking(role.client).status()?.hasEventTriggers == false)
            try await Tracking(role.admin, owner: role.name).install()
            try await Tracking(role.admin, owner: role.name).install()
            #expect(try await Tracking(role.client).status()?.hasEventTriggers == true)
            let owners = try await role.admin.values(
                """
                SELECT DISTINCT pg_get_userbyid(p.proowner)::text FROM pg_proc AS p WHERE p.pronamespace = 'kindred'::regnamespace
                """)
            #expect(owners == [.string(role.name)])
            try await expectTold(role, "ALTER TABLE own.song RENAME COLUMN name TO title")
            try await expectTold(role, "CREATE POLICY few ON own.song USING (id < 10)")
            try await expectTold(role, "DROP POLICY few ON own.song")
            // The installing role goes on with its own, which is no business of the event triggers.
            try await Tracking(role.client).install()
            try await expectTold(role, "ALTER TABLE own.song ADD COLUMN length integer")
            try await Tracking(role.client).uninstall()
            try await Tracking(role.admin, owner: role.name).uninstall()
            let left = try await role.admin.value(
                """
                SELECT (SELECT count(*) FROM pg_event_trigger)
                    + (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'kindred%')
                """)
            #expect(left == .integer(0))
            try await role.client.query("ALTER TABLE own.song ADD COLUMN year integer")
        }
    }

    @Test func aSchemaOfAnotherRoleIsNeitherReadNorUsed() async throws {
        try await withInstallation { role in
            try await HostileRole.lend { other in
                try await other.allowCreating()
                try await other.client.runScript(
                    """
                    CREATE SCHEMA kindred_ddl;
                    GRANT ALL ON SCHEMA kindred_ddl TO PUBLIC;
                    CREATE FUNCTION kindred_ddl.trap() RETURNS oid LANGUAGE plpgsql AS $$
                    BEGIN EXECUTE 'CREATE TABLE own.stolen ()'; RETURN 1::oid; END $$;
                    CREATE VIEW kindred_ddl.tracking_change AS
                        SELECT '1'::xid8 AS xid, kindred_ddl.trap() AS relation, clock_timestamp() AS at;
                    GRANT SELECT ON kindred_ddl.tracking_change TO PUBLIC;
                    """)
                try await role.client.query("SELECT kindred.tracking_check()")
                #expect(try await role.admin.value("SELECT to_regclass('own.stolen') IS NULL") == .bool(true))
                let error = await #expect(throws: KindredError.self) {
                    try await Tracking(role.admin, owner: role.name).install()
                }
                #expect(error?.code == .accessDenied)
                #expect(try await role.admin.value("SELECT count(*) FROM pg_event_trigger") == .integer(0))
            }
        }
    }
}
