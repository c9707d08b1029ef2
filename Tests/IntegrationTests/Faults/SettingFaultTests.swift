import KindredPostgres
import KindredTesting
import Testing

/// Rows of the fault catalogue about what a database is set to: encodings, settings, plans, types that are not there.
@Suite(.database("CREATE TABLE note (id integer PRIMARY KEY, text text)"))
struct SettingFaultTests {
    /// Lends a client of a database of another encoding.
    private func withDatabase(encoding: String, _ body: (PostgresClient) async throws -> Void) async throws {
        try await withClient { other in
            let name = "kindred_encoding_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query(
                """
                CREATE DATABASE \(identifier: name) TEMPLATE template0 ENCODING \(identifier: encoding)
                LOCALE 'C'
                """)
            do {
                try await withClient(maximumConnections: 1, configure: { $0.database = name }, body)
            } catch {
                _ = try? await other.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
                throw error
            }
            try await other.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
        }
    }

    @Test("D6: in a database of another encoding, text is converted or refused, never changed") func latin1()
        async throws
    {
        try await withDatabase(encoding: "LATIN1") { client in
            try await client.query("CREATE TABLE note (text text)")
            try await client.query("INSERT INTO note VALUES (\("Grüße"))")
            #expect(try await client.query("SELECT text, length(text), octet_length(text) FROM note")[0][0] == "Grüße")
            #expect(try await client.query("SELECT octet_length(text) FROM note")[0][0] == 5)
            let error = await expectPostgresError(.server) {
                try await client.query("INSERT INTO note VALUES (\("日"))")
            }
            #expect(error?.sqlState?.rawValue == "22P05")
            try await expectUsable(client)
        }
    }

    @Test("D6: bytes that are no text are an error where they are read as text, and can be read as bytes")
    func sqlASCII()
        async throws
    {
        try await withDatabase(encoding: "SQL_ASCII") { client in
            try await client.runScript(
                """
                CREATE TABLE note (text text);
                INSERT INTO note VALUES ('fine'), (convert_from('\\x4772fcdf65', 'SQL_ASCII'));
                """)
            let error = await expectPostgresError(.server) { try await client.query("SELECT text FROM note") }
            #expect(error?.sqlState?.rawValue == "22021")
            let rows = try await client.query("SELECT text::bytea FROM note")
            #expect(try rows[0].decode(0, as: [UInt8].self) == Array("fine".utf8))
            #expect(try rows[1].decode(0, as: [UInt8].self) == [0x47, 0x72, 0xfc, 0xdf, 0x65])
            try await expectUsable(client)
        }
    }

    @Test("D11: what a role sets for its sessions does not change values, in either format") func roleSettings()
        async throws
    {
        let settings = [
            "TimeZone = 'Australia/Lord_Howe'", "DateStyle = 'German, DMY'", "IntervalStyle = 'sql_standard'",
            "extra_float_digits = -5", "bytea_output = 'escape'", "lc_monetary = 'C'", "xmloption = 'document'",
        ]
        try await withClient { admin in
            let role = "settled_\(UInt32.random(in: 0..<UInt32.max))"
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            for setting in settings {
                try await admin.query("ALTER ROLE \(identifier: role) SET \(unsafeRaw: setting)")
            }
            let sql: SQL = """
                SELECT timestamptz '2026-03-29 02:30:00+00', timestamp '2026-02-01 10:00:00.000001', date '2026-02-01',
                    interval '-1 year 2 days 03:04:05.6', 0.1::float8 + 0.2, 1e-40::float4, bytea '\\x00ff5c',
                    ARRAY[timestamptz '0044-03-15 BC', 'infinity'], '12.34'::money
                """
            func texts(_ client: PostgresClient) async throws -> [[String]] {
                // Alone it comes in binary form, with others or read as unknown types as text.
                let binary = try await client.query(sql)[0]
                func describe(_ row: Row) throws -> [String] {
                    try row.columns.indices.map { String(describing: try row[$0]) }
                }
                var texts = [try describe(binary)]
                for try await row in try client.stream(sql) { texts.append(try describe(row)) }
                return texts
            }
            let expected = try await texts(admin)
            try await withClient(configure: { $0.user = role }) { client in
                let found = try await texts(client)
                #expect(found == expected)
            }
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    @Test("D13: everything that a trigger says arrives, and only what is safe is in the description")
    func customErrors()
        async throws
    {
        try await withClient(maximumConnections: 1) { client in
            try await client.runScript(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    RAISE EXCEPTION USING ERRCODE = 'KD001', MESSAGE = 'No ' || new.text, DETAIL = 'secret=42',
                        HINT = 'Ask somebody', CONSTRAINT = 'rule', TABLE = 'note', COLUMN = 'text', SCHEMA = 'public';
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON note FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            let error = try #require(
                await expectPostgresError(.server) {
                    try await client.query("INSERT INTO note VALUES (1, \("sEcr3t"))")
                })
            #expect(error.sqlState?.rawValue == "KD001")
            let server = try #require(error.server)
            #expect(server.message == "No sEcr3t" && server.detail == "secret=42" && server.hint == "Ask somebody")
            #expect(server.constraint == "rule" && server.table == "note" && server.column == "text")
            #expect(server.schema == "public" && server.context?.contains("refuse()") == true)
            #expect(!"\(error)".contains("sEcr3t") && !"\(error)".contains("42"))
            try await expectUsable(client)
        }
    }

    @Test("S9: the plan that a server settles on after some executions changes no result") func genericPlans()
        async throws
    {
        for mode in ["auto", "force_custom_plan", "force_generic_plan"] {
            try await withClient(maximumConnections: 1, configure: { $0.settings["plan_cache_mode"] = mode }) {
                client in
                try await client.runScript(
                    """
                    DROP TABLE IF EXISTS skewed;
                    CREATE TABLE skewed AS SELECT CASE WHEN i <= 5 THEN i ELSE 0 END AS kind
                    FROM generate_series(1, 5000) AS i;
                    CREATE INDEX ON skewed (kind);
                    ANALYZE skewed;
                    """)
                for number in 0..<16 {
                    let kind = number % 3
                    let rows = try await client.query("SELECT count(*) FROM skewed WHERE kind = \(kind)")
                    #expect(try rows[0][0] == (kind == 0 ? 4_995 : 1))
                }
                #expect(client.metrics.opened == 1)
            }
        }
    }

    @Test("S11: a type, a collation or an extension that is not there is the servers error, also when it goes")
    func missingTypes() async throws {
        try await withClient(maximumConnections: 1) { client in
            for sql: SQL in ["SELECT 'a'::absent", "SELECT 'a' COLLATE absent"] {
                let error = await expectPostgresError(.server) { try await client.query(sql) }
                #expect(error?.sqlState?.rawValue == "42704")
            }
            let absent = await expectPostgresError(.server) { try await client.query("CREATE EXTENSION absent") }
            // From PostgreSQL 16 on it is 0A000.
            #expect(["58P01", "0A000"].contains(absent?.sqlState?.rawValue))
            let available = try await client.query("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'")
            guard available.count == 1 else { return }
            for _ in 0..<2 {
                try await client.query("CREATE EXTENSION citext")
                try await client.loadTypes()
                let sql: SQL = "SELECT \("A")::citext = 'a'::citext"
                #expect(try await client.query(sql)[0][0] == true)
                try await withClient { try await $0.query("DROP EXTENSION citext") }
                let error = await expectPostgresError(.server) { try await client.query(sql) }
                #expect(error?.sqlState?.rawValue == "42704")
                try await expectUsable(client)
            }
        }
    }

    @Test("S4: while columns change their names and types, a value is right or the statement fails")
    func changingColumns() async throws {
        try await withClient(maximumConnections: 4) { client in
            try await client.query("INSERT INTO note SELECT i, i::text FROM generate_series(1, 20) AS i")
            let changes = [
                "ALTER TABLE note ALTER text TYPE integer USING text::integer",
                "ALTER TABLE note RENAME text TO other",
                "ALTER TABLE note RENAME other TO text",
                "ALTER TABLE note ADD more text",
                "ALTER TABLE note ALTER text TYPE timestamp USING to_timestamp(text)::timestamp",
                "ALTER TABLE note DROP more",
                "ALTER TABLE note ALTER text TYPE text USING extract(epoch FROM text)::integer",
            ]
            let readers = (0..<6).map { reader in
                Task {
                    var codes: Set<String> = []
                    while !Task.isCancelled {
                        do {
                            if reader < 4 {
                                try await Self.read(client, isAll: reader % 2 == 0)
                            } else {
                                // Text for a column of whatever type: the server reads it, or refuses it.
                                try await client.query("UPDATE note SET text = \("7") WHERE id = 7 AND false")
                            }
                        } catch let error as PostgresError where error.code == .server {
                            codes.insert(error.sqlState?.rawValue ?? "")
                        }
                    }
                    return codes
                }
            }
            try await withClient(maximumConnections: 1) { other in
                for _ in 0..<4 { for change in changes { try await other.query("\(unsafeRaw: change)") } }
            }
            for reader in readers { reader.cancel() }
            var codes: Set<String> = []
            for reader in readers {
                do { codes.formUnion(try await reader.value) } catch is CancellationError {}
            }
            // No such column; no such text; and plans that changed twice while a statement was tried again.
            #expect(codes.isSubset(of: ["42703", "22P02", "22007", "0A000", "42804"]), "\(codes)")
            try await expectUsable(client)
            #expect(client.metrics.lost == 0)
        }
    }

    /// Reads all rows; the text is the number, or the time so many seconds after 1970.
    private static func read(_ client: PostgresClient, isAll: Bool) async throws {
        let rows = try await client.query(isAll ? "SELECT * FROM note" : "SELECT id, text FROM note")
        #expect(rows.count == 20)
        for row in rows {
            let id = try #require(try row.decode("id", as: Int64.self))
            guard row.columns.contains(where: { $0.name == "text" }) else { continue }
            switch try row["text"] {
            case .integer(let number): #expect(number == id)
            case .string(let text): #expect(text == "\(id)")
            case .timestamp(let time): #expect(time.microsecondsSince2000 == (id - 946_684_800) * 1_000_000)
            case let other: Issue.record("\(String(describing: other))")
            }
        }
    }
}
