import Kindred
import KindredLive
import KindredTesting
import Testing

/// Names in tracked tables that would end a text of the SQL that tracking writes: they stay names.
@Suite(.database, .timeLimit(.minutes(10))) struct HostileNameTests {
    /// Texts that end a quoted text, a body between dollars, a comment, a format or a place in a format.
    private static let marks = [
        "$note$;%;SELECT $note$", "$text$;%;SELECT $text$", "$body$;%;SELECT $body$", "$function$;%;$function$",
        "$$;%;SELECT $$", "';%;--", "\\';%;--", "\";%;--", "\n;%;\n", "*/;%;/*", "%I%1$s%L;%", "?::text;%",
        "\"kindred old\";%", "{%}", "a,b;%", "E'\\'';%;--", "kindred place", "keys", "op", "fits",
    ]

    private static func names(_ role: HostileRole) -> [String] {
        marks.map { mark in
            let parts = mark.split(separator: "%", omittingEmptySubsequences: false)
            return String(parts.joined(separator: role.promotion).prefix(58))
        }
    }

    @Test func everyNameStaysAName() async throws {
        try await HostileRole.lend { role in
            try await withDatabase { database, _, other in
                try await database.tracking.install()
                try await role.allowCreating()
                for (index, name) in Self.names(role).enumerated() {
                    // Schema, table, key, constraint, column: all of them.
                    let table: SQL = "\(identifier: name).\(identifier: name)"
                    try await role.client.query("CREATE SCHEMA \(identifier: name)")
                    try await role.client.query(
                        """
                        CREATE TABLE \(table) (\(identifier: name) integer, later text, note text,
                            CONSTRAINT \(identifier: name + "_key") PRIMARY KEY (\(identifier: name)))
                        """)
                    try await other.query(
                        "SELECT kindred.tracking_enable(format('%I.%I', \(name)::text, \(name)::text)::regclass)")
                    try await role.client.query("INSERT INTO \(table) (\(identifier: name)) VALUES (1), (2)")
                    try await role.client.query("UPDATE \(table) SET note = 'a' WHERE \(identifier: name) = 1")
                    // Through the event trigger, then through the check.
                    try await role.client.query("ALTER TABLE \(table) RENAME later TO \(identifier: name + "_2")")
                    try await other.query("ALTER EVENT TRIGGER kindred_tracking_ddl DISABLE")
                    try await role.client.query("ALTER TABLE \(table) RENAME note TO \(identifier: name + "_3")")
                    try await other.query("SELECT kindred.tracking_check()")
                    try await other.query("ALTER EVENT TRIGGER kindred_tracking_ddl ENABLE ALWAYS")
                    try await role.client.query("DELETE FROM \(table)")
                    let keys = try await other.value(
                        """
                        SELECT sum(cardinality(r.keys))::bigint FROM kindred.tracking_outbox_0 AS r
                        JOIN kindred.tracking_table AS t ON t.relation = r.relation WHERE t.table_name = \(name)
                        """)
                    #expect(keys == .integer(5), "\(index)")
                }
                #expect(try await other.tablesWithOldFunctions() == [])
                #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == [])
                try await role.expectNoPromotion()
            }
        }
    }

    /// The superuser's session reads the printed statements, too.
    @Test func printedStatementsAreThoseThatRun() async throws {
        try await HostileRole.lend { role in
            try await withDatabase { database, _, other in
                try await database.tracking.install()
                try await role.allowCreating()
                for (index, name) in Self.names(role).enumerated() {
                    try await role.client.query("CREATE SCHEMA \(identifier: "s\(index)")")
                    let table: SQL = "\(identifier: "s\(index)").item"
                    try await role.client.query(
                        "CREATE TABLE \(table) (id integer PRIMARY KEY, \(identifier: name) text)")
                    for statement in try await database.tracking.statements(toEnable: ["s\(index).item"]) {
                        try await other.runScript(statement + ";")
                    }
                }
                #expect(try await other.tablesWithOldFunctions() == [])
                try await role.expectNoPromotion()
            }
        }
    }

    /// It is another table, with the rights of another role.
    @Test func aTableThatAnotherRoleMadeAgainIsNotPutInOrder() async throws {
        try await HostileRole.lend { role in
            try await withDatabase { database, _, other in
                try await other.query("CREATE TABLE person (id integer PRIMARY KEY)")
                try await database.tracking.install()
                try await database.tracking.enable("person")
                try await other.query("DROP TABLE person")
                try await other.query("GRANT CREATE ON SCHEMA public TO \(identifier: role.name)")
                try await role.client.query("CREATE TABLE person (id integer PRIMARY KEY)")
                try await role.client.query("INSERT INTO person VALUES (1)")
                #expect(try await other.values("SELECT fault FROM kindred.tracking_check()") == ["dropped"])
                let triggers: SQL = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'person'::regclass"
                #expect(try await other.value(triggers) == .integer(0))
                // The first one's owner is followed, also after the table was given to another role.
                try await role.client.query("DROP TABLE person")
                try await other.query("CREATE TABLE person (id integer PRIMARY KEY)")
                #expect(try await other.value(triggers) == .integer(4))
                try await other.query("ALTER TABLE person OWNER TO \(identifier: role.name)")
                #expect(
                    try await other.value("SELECT owner::text FROM kindred.tracking_table") == .string(role.name))
            }
        }
    }
}
