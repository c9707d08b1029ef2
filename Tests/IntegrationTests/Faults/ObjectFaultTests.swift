import Kindred
import KindredTesting
import Testing

/// Rows S and D of the fault catalogue as objects see them.
@Suite struct ObjectFaultTests {
    private static let parted = """
        CREATE TABLE event (id integer, region text NOT NULL, name text, number bigint,
            at timestamptz NOT NULL DEFAULT '2026-01-01', PRIMARY KEY (id, region)) PARTITION BY LIST (region);
        CREATE TABLE event_north PARTITION OF event FOR VALUES IN ('north');
        CREATE TABLE event_south (at timestamptz NOT NULL, gone integer, number bigint, region text NOT NULL,
            name text, lost text, id integer NOT NULL);
        ALTER TABLE event_south DROP gone, DROP lost;
        ALTER TABLE event ATTACH PARTITION event_south FOR VALUES IN ('south');
        ALTER TABLE event_south ALTER at SET DEFAULT '2026-02-02';
        """

    @Test("S7: partitions with other orders of columns, and rows that move between them", .database(.sql(parted)))
    func partitions() async throws {
        try await withDatabase { database, context, other in
            let regions = ["north", "south"]
            var events: [DatabaseObject] = []
            for number in 0..<6 {
                let event = try context.add("event", ["id": number, "region": regions[number % 2]])
                event["name"] = .string("name \(number)")
                event["number"] = .integer(Int64(number) << 40)
                events.append(event)
            }
            try await context.save()
            func check() async throws {
                for (number, event) in events.enumerated() {
                    #expect(event["name"] == .string("name \(number)"))
                    #expect(event["number"] == .integer(Int64(number) << 40))
                    let row = try await other.query("SELECT name, number, region FROM event WHERE id = \(number)")[0]
                    #expect(try [row[0], row[1], row[2]] == ["name", "number", "region"].map { event[$0] })
                }
                let read = try await database.makeContext().fetch("event").sorted("id").all()
                #expect(read.map { $0["name"] } == events.map { $0["name"] })
                #expect(read.map { $0["at"] } == events.map { $0["at"] })
            }
            try await check()
            for event in events { event["region"] = event["region"] == "north" ? "south" : "north" }
            try await context.save()
            try await check()
            let error = await expectError(.constraintViolation) {
                try await events[0].setValue("west", forKey: "region")
            }
            #expect(error?.underlying?.sqlState == .checkViolation)
            try await check()
        }
    }

    private static let secured = """
        CREATE TABLE item (id integer PRIMARY KEY, owner text NOT NULL, name text, version integer NOT NULL DEFAULT 1);
        COMMENT ON COLUMN item.version IS '@kindred {"version": true}';
        ALTER TABLE item ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON item USING (owner = current_setting('app.user', true));
        INSERT INTO item VALUES (1, 'ann', 'one'), (2, 'bob', 'two');
        """

    @Test(
        "D7: rows that a policy hides are neither read nor written, and what it refuses says so",
        .database(.sql(secured)))
    func policies() async throws {
        let role = "secured_\(UInt32.random(in: 0..<UInt32.max))"
        try await withDatabase { _, _, admin in
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await admin.query("GRANT ALL ON item TO \(identifier: role)")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            configuration.settings["app.user"] = "ann"
            configuration.pool.acquireTimeout = .seconds(60)
            let database = try await Database.connect(configuration)
            let context = database.makeContext()
            let items = try await context.fetch("item").all()
            #expect(items.map { $0["id"] } == [1])
            let refused = await expectError(.accessDenied) {
                try await context.create("item", ["id": 3, "owner": "bob"])
            }
            #expect(refused?.underlying?.sqlState == .insufficientPrivilege && refused?.entity == "public.item")
            let staged = try context.add("item", ["id": 3, "owner": "bob"])
            await expectError(.accessDenied) { try await context.save() }
            #expect(staged.isInserted && staged.hasStagedChanges)
            // From here on the row belongs to another owner: it is gone for this session.
            try await admin.query("UPDATE item SET owner = 'bob' WHERE id = 1")
            await expectError(.objectDeleted) { try await items[0].setValue("mine", forKey: "name") }
            #expect(try await admin.value("SELECT name FROM item WHERE id = 1") == "one")
            try await admin.query("DROP POLICY own ON item")
            #expect(try await database.makeContext().fetch("item").count() == 0)
            await database.close()
            try await admin.query("DROP OWNED BY \(identifier: role)")
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    @Test(
        "S4: objects name what the database no longer has",
        .database(
            """
            CREATE TABLE box (id integer PRIMARY KEY, size integer);
            CREATE TABLE item (id integer PRIMARY KEY, name text, size integer, box_id integer REFERENCES box);
            INSERT INTO box VALUES (1, 1);
            INSERT INTO item VALUES (1, 'a', 1, 1);
            """))
    func droppedColumn() async throws {
        try await withDatabase { database, context, other in
            let item = try await context.fetch("item").one()
            let box = try #require(try await item.object(forKey: "box"))
            try await other.query("ALTER TABLE item DROP size")
            let items = try database.makeContext().fetch("item")
            let bodies: [() async throws -> Void] = [
                { _ = try await items.all() },
                { _ = try await items.where("size = 1").count() },
                { _ = try await items.select("size").all() },
                { for try await _ in items.stream() { Issue.record("an object") } },
                { _ = try await items.sum("size") },
                { try await item.setValue(5, forKey: "size") },
                { _ = try await context.create("item", ["id": 2, "size": 1]) },
                { _ = try await items.update(["size": 7]) },
                { try await item.refresh() },
            ]
            for (number, body) in bodies.enumerated() {
                let error = await expectError(.schemaChanged, body)
                #expect(error?.underlying?.sqlState == .undefinedColumn && error?.entity == "public.item", "\(number)")
                #expect(error.map { "\($0)" }?.contains("size") == true, "\(number)")
            }
            // Of statements that are sent together it is said which one it was.
            box["size"] = 2
            item["size"] = 2
            let error = await expectError(.schemaChanged) { try await context.save() }
            #expect(error?.entity == "public.item" && item.hasStagedChanges && box.hasStagedChanges)
            // SQL that is written by hand is sent as it is.
            await expectPostgresError(.server) { try await context.query("SELECT size FROM item") }
            try await other.query("ALTER TABLE box RENAME TO crate")
            await expectError(.schemaChanged) { _ = try await database.makeContext().fetch("box").all() }
            try await database.refreshSchema()
            let read = try await database.makeContext().fetch("item").one()
            try await read.setValue("b", forKey: "name")
            #expect(try await other.value("SELECT name FROM item") == "b")
        }
    }
}
