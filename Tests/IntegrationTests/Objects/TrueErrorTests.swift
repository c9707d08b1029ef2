import Kindred
import KindredTesting
import Testing

/// Errors tell the truth: their entity, and whose fault they are.
@Suite struct TrueErrorTests {
    private static let refusals = """
        CREATE TABLE item (id int PRIMARY KEY, name text, state text);
        CREATE VIEW open_item AS SELECT * FROM item WHERE state = 'open' WITH CHECK OPTION;
        COMMENT ON VIEW open_item IS '@kindred {"key": ["id"]}';
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.name = 'raised' THEN RAISE EXCEPTION 'secret %', NEW.name; END IF;
                IF NEW.name = 'coded' THEN RAISE EXCEPTION 'secret' USING ERRCODE = 'SH001'; END IF;
                IF NEW.name = 'failed' THEN RAISE EXCEPTION 'secret' USING ERRCODE = 'P0002'; END IF;
                RETURN NEW;
            END $$;
        CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION refuse();
        CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.name = 'late' THEN RAISE EXCEPTION 'secret'; END IF; RETURN NEW; END $$;
        CREATE CONSTRAINT TRIGGER refuse_late AFTER INSERT OR UPDATE ON item DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse_late();
        INSERT INTO item VALUES (1, 'a', 'open'), (2, 'b', 'open');
        """

    @Test(.database(.sql(refusals))) func aRefusalOfTheDatabasesOwnCodeIsTheClients() async throws {
        try await withDatabase { database, context, other in
            let item = try await context.fetch("item").where("id = 1").one()
            for (name, state) in [("raised", "P0001"), ("coded", "SH001"), ("late", "P0001")] {
                let ways: [() async throws -> Void] = [
                    { try await item.setValue(name, forKey: "name") },
                    {
                        item["name"] = name
                        try await context.save()
                    },
                    { _ = try await context.create("item", ["id": 9, "name": name]) },
                    { _ = try await context.fetch("item").where("id = 1").update(["name": name]) },
                ]
                for (place, way) in ways.enumerated() {
                    let error = await expectError(.constraintViolation, way)
                    #expect(error?.entity == "public.item" && error?.category.httpStatus == 422, "\(name) \(place)")
                    #expect(error?.underlying?.sqlState?.rawValue == state, "\(name) \(place)")
                    #expect(error.map { "\($0)" }?.contains("secret") == false)
                    if place < 2 { #expect(error?.problems.first?.object === item, "\(name) \(place)") }
                    context.rollback()
                }
            }
            for (name, status) in [("raised", 422), ("coded", 422), ("failed", 500)] {
                let error = await #expect(throws: PostgresError.self) {
                    try await context.query("UPDATE item SET name = \(name)")
                }
                #expect(error?.category.httpStatus == status, "\(name)")
            }
            #expect(try await other.values("SELECT name FROM item ORDER BY id") == ["a", "b"])
        }
    }

    @Test(.database(.sql(refusals))) func theCheckOptionOfAViewIsTheClients() async throws {
        try await withDatabase { database, context, other in
            let item = try await context.fetch("open_item").where("id = 1").one()
            let ways: [() async throws -> Void] = [
                { try await item.setValue("done", forKey: "state") },
                {
                    item["state"] = "done"
                    try await context.save()
                },
                { _ = try await context.create("open_item", ["id": 9, "state": "done"]) },
                { _ = try await context.fetch("open_item").update(["state": "done"]) },
            ]
            for (place, way) in ways.enumerated() {
                let error = await expectError(.constraintViolation, way)
                #expect(error?.entity == "public.open_item" && error?.category.httpStatus == 422, "\(place)")
                #expect(error?.underlying?.sqlState?.rawValue == "44000", "\(place)")
                context.rollback()
            }
            #expect(try await other.values("SELECT DISTINCT state FROM item") == ["open"])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE item (id int PRIMARY KEY, name text);
                INSERT INTO item VALUES (1, 'a');
                CREATE MATERIALIZED VIEW kept AS SELECT * FROM item;
                COMMENT ON MATERIALIZED VIEW kept IS '@kindred {"key": ["id"]}';
                CREATE VIEW shown AS SELECT id, max(name) AS name FROM item GROUP BY id;
                COMMENT ON VIEW shown IS '@kindred {"key": ["id"]}';
                CREATE VIEW loose AS SELECT max(name) AS name FROM item;
                """)))
    func anObjectThatCannotBeWrittenIsReadAgain() async throws {
        try await withDatabase { database, context, other in
            for name in ["kept", "shown"] {
                try await other.query("UPDATE item SET name = 'a'")
                try await other.query("REFRESH MATERIALIZED VIEW kept")
                let object = try await context.fetch(name).one()
                try await other.query("UPDATE item SET name = 'b'")
                try await other.query("REFRESH MATERIALIZED VIEW kept")
                try await expectStatements(["SELECT"]) { try await object.refresh() }
                #expect(object["name"] == "b", "\(name)")
                await expectError(.readOnly) { try await object.setValue("c", forKey: "name") }
            }
            let loose = try await context.fetch("loose").one()
            try await expectStatements([]) { await expectError(.readOnly) { try await loose.refresh() } }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE item (id int PRIMARY KEY, flag boolean, data jsonb, old json);
                INSERT INTO item SELECT id, id = 1, data::jsonb, data::json FROM (VALUES
                    (1, '{"on": true, "box": {"on": false}}'), (2, '{"on": false}'), (3, '{"on": "true"}'), (4, '{"on": 1}'),
                    (5, '{"on": null}'), (6, '{}')) AS given (id, data);
                INSERT INTO item VALUES (7, true, NULL, NULL);
                """)))
    func aTruthValueInADocumentComparesWithABool() async throws {
        try await withDatabase { database, context, other in
            let type = { (path: String) in
                "CASE WHEN jsonb_typeof(\(path)) = 'boolean' THEN (\(path))::text::boolean END"
            }
            for (key, column) in [("data", "data"), ("old", "old::jsonb")] {
                let on = type("\(column) -> 'on'")
                let items = try context.fetch("item").sorted("id")
                let cases: [(FetchRequest<DatabaseObject>, String)] = [
                    (try items.where("\(key).on = %@", true), "\(on) = true"),
                    (try items.where("\(key).on = TRUE"), "\(on) = true"),
                    (try items.where("\(key).on != %@", true), "\(on) IS DISTINCT FROM true"),
                    (try items.where("%@ = \(key).on", false), "\(on) = false"),
                    (try items.where("\(key).box.on = %@", false), "\(type("\(column) #> '{box,on}'")) = false"),
                    (try items.where("\(key).on IN %@", [true, false]), "\(on) IN (true, false)"),
                    (try items.where("\(key).on = flag"), "\(on) IS NOT DISTINCT FROM flag"),
                    (try items.where("\(key).on = nil"), "\(column) ->> 'on' IS NULL"),
                    (try items.where("\(key).on = %@", "true"), "\(column) ->> 'on' = 'true'"),
                ]
                for (request, sql) in cases {
                    let found = try await request.all().map { $0["id"] }
                    let expected = try await other.values("SELECT id FROM item WHERE \(unsafeRaw: sql) ORDER BY id")
                    #expect(found == expected, "\(sql)")
                }
            }
        }
    }

    @Test(.database(.sql("CREATE TABLE item (id int PRIMARY KEY, name text); INSERT INTO item VALUES (1)")))
    func aTransactionSurvivesTheLossOfItsPreparedStatements() async throws {
        try await withDatabase { database, context, other in
            for text in [
                "DEALLOCATE ALL", "deallocate all", "/* a */ DEALLOCATE ALL", "DISCARD PLANS",
                "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$",
            ] {
                try await context.transaction {
                    for round in 0..<3 {
                        #expect(try await context.fetch("item").where("id = 1").count() == 1, "\(text)")
                        #expect(try await context.fetch("item").update(["name": "\(round)"]) == 1, "\(text)")
                        try await context.query("\(unsafeRaw: text)")
                    }
                    #expect(try await context.fetch("item").where("id = 1").count() == 1, "\(text)")
                }
                #expect(try await context.fetch("item").where("id = 1").count() == 1, "\(text)")
            }
            #expect(try await other.value("SELECT name FROM item") == "2")
        }
    }
}
