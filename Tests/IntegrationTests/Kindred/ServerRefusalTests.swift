import Kindred
import KindredTesting
import Testing

/// Values that the server cannot take arrive as constraint violations do: with object and key, nothing written.
@Suite struct ServerRefusalTests {
    private static let schema = """
        CREATE TABLE item (
            id integer PRIMARY KEY, code varchar(5), small smallint, big integer,
            share integer GENERATED ALWAYS AS (100 / nullif(big, -1)) STORED);
        CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN NEW.small = NEW.big; RETURN NEW; END $$;
        CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION fill();
        INSERT INTO item (id, big) VALUES (1, 1), (2, 2);
        """

    @Test(.database(.sql(schema))) func aTextThatIsTooLongNamesItsAttribute() async throws {
        try await withDatabase { database, context, other in
            let item = try await context.fetch("item").where("id = 1").one()
            let error = await expectError(.valueTooLarge) { try await item.setValue("too long", forKey: "code") }
            #expect(
                error?.object === item && error?.key == "code"
                    && error?.underlying?.sqlState == .stringDataRightTruncation)
            #expect(error.map { !"\($0)".contains("too long") } == true)
            let created = await expectError(.valueTooLarge) {
                try await context.create("item", ["id": 3, "code": "too long"])
            }
            #expect(created?.key == "code" && created?.entity == "public.item")
        }
    }

    @Test(.database(.sql(schema))) func aSaveThatTheServerCannotStoreKeepsEverythingStaged() async throws {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            items[0]["big"] = 100_000
            let error = await expectError(.valueTooLarge) { try await context.save() }
            #expect(error?.object === items[0] && error?.problems.count == 1 && items[0].hasChanges)
            items[0]["big"] = 0
            let division = await expectError(.wrongType) { try await context.save() }
            #expect(division?.object === items[0] && division?.underlying?.sqlState == .divisionByZero)
            items[0]["big"] = 50
            try await context.save()
            #expect(items[0]["share"] == 2 && items[0]["small"] == 50)
        }
    }

    @Test(.database(.sql(schema))) func aScopeLeavesNothingInMemory() async throws {
        struct Failure: Error {}
        try await withDatabase { database, _, other in
            weak var dropped: DatabaseContext?
            weak var changed: DatabaseObject?
            await #expect(throws: Failure.self) {
                try await database.withContext { context in
                    dropped = context
                    let item = try await context.fetch("item").where("id = 1").one()
                    changed = item
                    item["code"] = "x"
                    try context.insert("item", ["id": 5])
                    throw Failure()
                }
            }
            #expect(dropped == nil && changed == nil)
            let count = try await database.withContext { context in
                dropped = context
                try context.insert("item", ["id": 5, "big": 5])
                try await context.save()
                return try await context.fetch("item").count()
            }
            #expect(count == 3 && dropped == nil)
        }
    }
}
