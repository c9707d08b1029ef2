import Kindred
import KindredTesting
import Testing

/// Types, columns and tables that are made anew while a program runs: its values are right, or an error names
/// `refreshSchema()`.
@Suite struct ChangedTypeTests {
    /// A change of the column `v` of `thing`, whose row 1 has a value.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Makes the type of the column.
        var types = ""
        let column: String
        let value: String
        /// The change of the database.
        let change: String
        /// A value that the program writes afterwards.
        let written: PostgresValue
        /// Whether the program reads the values without `refreshSchema()`.
        var isRead = false
        /// Whether the program writes the value without `refreshSchema()`.
        var isWritten = false
    }

    private static func anew(_ drop: String, _ create: String, _ type: String) -> String {
        """
        ALTER TABLE thing ALTER v TYPE text USING v::text; \(drop); \(create);
        ALTER TABLE thing ALTER v TYPE \(type) USING v::\(type)
        """
    }

    private static let address = PostgresValue.composite(["street": "Elm", "number": 2])
    private static let range = PostgresValue.range(
        PostgresRange(lower: .inclusive(.integer(4)), upper: .exclusive(.integer(9))))

    static let changes: [Change] = [
        Change(
            testDescription: "an enum that loses a label", types: "CREATE TYPE mood AS ENUM ('sad', 'ok')",
            column: "mood",
            value: "sad", change: anew("DROP TYPE mood", "CREATE TYPE mood AS ENUM ('sad', 'great')", "mood"),
            written: "great", isRead: true, isWritten: true),
        Change(
            testDescription: "an enum in arrays", types: "CREATE TYPE mood AS ENUM ('sad', 'ok')", column: "mood[]",
            value: "{sad,NULL}", change: anew("DROP TYPE mood", "CREATE TYPE mood AS ENUM ('sad', 'great')", "mood[]"),
            written: .array(PostgresArray(elementType: .text, elements: ["great", nil])), isRead: true, isWritten: true),
        Change(
            testDescription: "a domain over an enum",
            types: "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN feeling AS mood", column: "feeling",
            value: "sad",
            change: anew(
                "DROP DOMAIN feeling; DROP TYPE mood",
                "CREATE TYPE mood AS ENUM ('sad', 'great'); CREATE DOMAIN feeling AS mood", "feeling"),
            written: "great", isRead: true, isWritten: true),
        Change(
            testDescription: "a domain over another type", types: "CREATE DOMAIN code AS text", column: "code",
            value: "17",
            change: """
                ALTER TABLE thing DROP v; DROP DOMAIN code; CREATE DOMAIN code AS integer;
                ALTER TABLE thing ADD v code; UPDATE thing SET v = 17
                """, written: "18"),
        Change(
            testDescription: "a composite type", types: "CREATE TYPE address AS (street text, number integer)",
            column: "address", value: "(Main,5)",
            change: anew("DROP TYPE address", "CREATE TYPE address AS (street text, number integer)", "address"),
            written: address, isRead: true),
        Change(
            testDescription: "a composite type with other fields",
            types: "CREATE TYPE address AS (street text, number integer)", column: "address", value: "(Main,5)",
            change: anew("DROP TYPE address", "CREATE TYPE address AS (road text, number integer)", "address"),
            written: address),
        Change(
            testDescription: "a composite type that loses a field",
            types: "CREATE TYPE address AS (street text, number integer)", column: "address", value: "(Main,5)",
            change: "ALTER TYPE address DROP ATTRIBUTE number", written: address),
        Change(
            testDescription: "a composite type whose fields change places",
            types: "CREATE TYPE address AS (street text, number integer)", column: "address", value: "(Main,5)",
            change: "ALTER TYPE address DROP ATTRIBUTE street; ALTER TYPE address ADD ATTRIBUTE street text",
            written: address),
        Change(
            testDescription: "a range", types: "CREATE TYPE span AS RANGE (subtype = int8)", column: "span",
            value: "[1,5)", change: anew("DROP TYPE span", "CREATE TYPE span AS RANGE (subtype = int8)", "span"),
            written: range, isRead: true, isWritten: true),
        Change(
            testDescription: "a range of another type", types: "CREATE TYPE span AS RANGE (subtype = int8)",
            column: "span",
            value: "[1,5)",
            change: """
                ALTER TABLE thing DROP v; DROP TYPE span; CREATE TYPE span AS RANGE (subtype = timestamp);
                ALTER TABLE thing ADD v span; UPDATE thing SET v = '[2020-01-01,2020-01-02)'
                """, written: range),
        Change(
            testDescription: "citext", types: "CREATE EXTENSION citext", column: "citext", value: "Ab",
            change: anew("DROP EXTENSION citext", "CREATE EXTENSION citext", "citext"), written: "Cd", isRead: true,
            isWritten: true),
        Change(
            testDescription: "hstore", types: "CREATE EXTENSION hstore", column: "hstore", value: #""a"=>"1""#,
            change: anew("DROP EXTENSION hstore", "CREATE EXTENSION hstore", "hstore"), written: .hstore(["b": nil]),
            isRead: true, isWritten: true),
        Change(
            testDescription: "integer to bigint", column: "integer", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE bigint", written: 8, isRead: true, isWritten: true),
        Change(
            testDescription: "integer to a bigint that it does not hold", column: "integer", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE bigint; UPDATE thing SET v = 5000000000", written: 8),
        Change(
            testDescription: "integer to text", column: "integer", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE text",
            written: 8),
        Change(
            testDescription: "text to integer", column: "text", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE integer USING v::integer", written: "8"),
        Change(
            testDescription: "bigint to a type of its width", column: "bigint", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE double precision", written: 8),
        Change(
            testDescription: "bigint to a timestamp", column: "bigint", value: "7",
            change: "ALTER TABLE thing ALTER v TYPE timestamp USING to_timestamp(v)", written: 8),
        Change(
            testDescription: "integer arrays to bigint arrays", column: "integer[]", value: "{7}",
            change: "ALTER TABLE thing ALTER v TYPE bigint[]",
            written: .array(PostgresArray(elementType: .int4, elements: [8])), isRead: true),
        Change(
            testDescription: "varchar to text", column: "varchar(5)", value: "a",
            change: "ALTER TABLE thing ALTER v TYPE text",
            written: "b", isRead: true, isWritten: true),
        Change(
            testDescription: "a table that is made again", column: "text", value: "a",
            change: """
                DROP TABLE thing; CREATE TABLE thing (v text, id integer PRIMARY KEY); INSERT INTO thing VALUES ('z', 1)
                """, written: "b", isRead: true, isWritten: true),
        Change(
            testDescription: "a table that is made again with other types", column: "text", value: "a",
            change: """
                DROP TABLE thing; CREATE TABLE thing (v integer, id bigint PRIMARY KEY); INSERT INTO thing VALUES (3, 1)
                """, written: "b"),
    ]

    /// Runs a call that may say that the schema has changed, and nothing else; false if it did.
    private func isDone(
        _ what: String, mayRefuse: Bool, isWrite: Bool = false, _ body: () async throws -> Void
    ) async -> Bool {
        do {
            try await body()
            return true
        } catch let error as KindredError where mayRefuse && isWrite && error.code == .wrongType {
            // The text of a value of the former type is none of the new one's.
            #expect(error.underlying?.sqlState?.class == .dataException)
        } catch let error as KindredError {
            #expect(mayRefuse, "\(what): \(String(reflecting: error))")
            #expect(
                error.code == .schemaChanged && error.message.contains("refreshSchema()"),
                "\(what): \(String(reflecting: error))")
        } catch {
            Issue.record("\(what): \(String(reflecting: error))")
        }
        return false
    }

    private func stored(_ other: PostgresClient, _ id: Int) async throws -> String? {
        try await other.query("SELECT v::text FROM thing WHERE id = \(id)").first?.decode(0, as: String.self)
    }

    private func expectReads(_ change: Change, _ context: DatabaseContext, _ other: PostgresClient, mayRefuse: Bool)
        async throws
    {
        let text = try await stored(other, 1)
        var objects: [(String, () async throws -> DatabaseObject?)] = [
            ("all", { try await context.fetch("thing").sorted("id").all().first }),
            ("find", { try await context.find("thing", 1) }),
            ("page", { try await context.fetch("thing").sorted("id").page(size: 1).objects.first }),
            (
                "stream",
                {
                    for try await object in try context.fetch("thing").sorted("id").stream() { return object }
                    return nil
                }
            ),
        ]
        objects.append(
            (
                "transaction",
                { try await context.transaction { try await context.fetch("thing").sorted("id").all().first } }
            ))
        for (what, read) in objects {
            _ = await isDone(what, mayRefuse: mayRefuse) {
                let object = try await read()
                // `find` gives an object that is in memory as it is there.
                if what != "find" { #expect(object?["v"]?.description == text, "\(what)") }
                try await object?.refresh()
                #expect(object?["v"]?.description == text, "\(what), refreshed")
            }
        }
    }

    private func expectWrites(
        _ change: Change, _ context: DatabaseContext, _ other: PostgresClient, first id: Int, mayRefuse: Bool
    ) async throws {
        let text = change.written.description
        func judge(_ what: String, _ id: Int, _ body: () async throws -> Void) async throws {
            let before = try await stored(other, id)
            let isDone = await self.isDone(what, mayRefuse: mayRefuse, isWrite: true, body)
            let after = try await stored(other, id)
            // A refusal may come with the answer of a statement that has taken effect.
            #expect(after == text || !isDone && after == before, "\(what): \(after ?? "NULL")")
        }
        try await judge("create", id) { try await context.create("thing", ["id": id, "v": change.written]) }
        try await judge("update", 1) { try await context.fetch("thing").where("id = 1").update(["v": change.written]) }
        try await other.query("UPDATE thing SET v = DEFAULT WHERE id = 1")
        try await judge("setValue", 1) { try await context.find("thing", 1)?.setValue(change.written, forKey: "v") }
        try await judge("save", id + 1) {
            try context.add("thing", ["id": id + 1, "v": change.written])
            try context.add("thing", ["id": id + 2, "v": change.written])
            try await context.save()
        }
        context.rollback()
        try await judge("upsert", id + 3) {
            try await context.upsert("thing", ["id": id + 3, "v": change.written], on: "id")
        }
    }

    @Test(.database, arguments: changes) func valuesAreRightOrTheSchemaHasChanged(_ change: Change) async throws {
        try await withDatabase { (first, _, other) async throws in
            try await other.runScript(
                """
                \(change.types); CREATE TABLE thing (id integer PRIMARY KEY, v \(change.column));
                INSERT INTO thing VALUES (1, \(PostgresValue.string(change.value).literal))
                """)
            try await first.refreshSchema()
            let database = first
            let held = database.makeContext()
            let object = try #require(try await held.find("thing", 1))
            let known = object["v"]
            #expect(known?.description == change.value)
            // Prepared statements on several connections.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let context = database.makeContext()
                        try await context.transaction {
                            _ = try await context.fetch("thing").sorted("id").all()
                            _ = try await context.find("thing", 1)?.refresh()
                        }
                        _ = try await database.query("SELECT v FROM thing")
                    }
                }
                try await group.waitForAll()
            }
            try await other.runScript(change.change)
            #expect(object["v"] == known)
            // On every connection the first statement of a transaction may be stale, and only there.
            for _ in 0..<2 {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            let context = database.makeContext()
                            _ = await isDone("stale", mayRefuse: true) {
                                try await context.transaction {
                                    try await database.query("SELECT pg_sleep(0.05)")
                                    _ = try await context.fetch("thing").sorted("id").all()
                                }
                            }
                        }
                    }
                }
            }
            try await expectReads(change, database.makeContext(), other, mayRefuse: !change.isRead)
            try await expectReads(change, held, other, mayRefuse: !change.isRead)
            let raw = try await database.query("SELECT v FROM thing WHERE id = 1")
            #expect(try await raw[0][0]?.description == stored(other, 1))
            try await expectWrites(change, database.makeContext(), other, first: 10, mayRefuse: !change.isWritten)
            try await expectWrites(change, held, other, first: 20, mayRefuse: !change.isWritten)
            // The new model reads and writes everything.
            try await database.refreshSchema()
            let context = database.makeContext()
            try await expectReads(change, context, other, mayRefuse: false)
            let anew = try await context.fetch("thing").where("v != nil").sorted("id").all()
            for (id, value) in [(30, anew.first?["v"]), (31, anew.last?["v"])] {
                let created = try await context.create("thing", ["id": id, "v": value])
                #expect(try await created["v"]?.description == stored(other, id))
                created["v"] = nil
                created["v"] = value
                let other31 = try context.add("thing", ["id": id + 100, "v": value])
                try await context.save()
                #expect(try await other31["v"]?.description == stored(other, id + 100))
            }
            // Objects in memory stay as they were read last.
            #expect(object["v"] != nil)
        }
    }

    @Test(
        .database(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok');
            CREATE TABLE pet (id integer PRIMARY KEY, mood mood, moods mood[]);
            INSERT INTO pet VALUES (1, 'sad', '{sad}');
            """))
    func aLabelThatIsAddedIsTaken() async throws {
        try await withDatabase { (database, context, other) async throws in
            let pet = try #require(try await context.find("pet", 1))
            try await other.query("ALTER TYPE mood ADD VALUE 'great'")
            let moods = PostgresValue.array(PostgresArray(elementType: .text, elements: ["great"]))
            try await pet.setValue("great", forKey: "mood")
            for condition in ["mood = 'great'", "mood IN {'great', 'ok'}", "mood >= 'great'", "NONE moods = 'great'"] {
                #expect(try await context.fetch("pet").where(condition).count() == 1, "\(condition)")
            }
            pet["moods"] = moods
            let new = try context.add("pet", ["id": 2, "mood": "great", "moods": moods])
            try await context.save()
            #expect(new["mood"] == "great")
            #expect(try await context.fetch("pet").where("ANY moods = %@", "great").count() == 2)
            #expect(
                try await other.values("SELECT mood::text || moods::text FROM pet ORDER BY id") == [
                    "great{great}", "great{great}",
                ])
            // A text that is no label is refused as before.
            pet["mood"] = "angry"
            let error = await expectError(.unknownLabel) { try await context.save() }
            #expect(error?.message.contains(#""great""#) == true && error?.key == "mood")
            context.rollback()
            await expectError(.invalidCondition) { _ = try await context.fetch("pet").where("mood = 'angry'").all() }
        }
    }
}

extension PostgresValue {
    /// A text as SQL writes it.
    fileprivate var literal: String { "'\(description.replacing("'", with: "''"))'" }
}
