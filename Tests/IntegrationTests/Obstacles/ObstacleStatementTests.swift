import Kindred
import KindredTesting
import Testing

/// Statements that check themselves are as many as others.
@Suite struct ObstacleStatementTests {
    private static let touched = """
        CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.mark := 'touched'; RETURN NEW; END $$;
        CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION touch();
        CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$;
        CREATE TRIGGER pass BEFORE DELETE ON item FOR EACH ROW EXECUTE FUNCTION pass();
        CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON owner_tag FOR EACH ROW EXECUTE FUNCTION touch();
        CREATE TRIGGER pass BEFORE DELETE ON owner_tag FOR EACH ROW EXECUTE FUNCTION pass();
        """

    @Test(.database(.sql(ObstacleWorld.fixture + ObstacleWorld.reset + touched)))
    func aWriteOfATableWithTriggersIsOneStatement() async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            let items = try await context.fetch("item").sorted("id").all()
            let tags = try await context.fetch("tag").sorted("id").all()
            let set = try await owners[0].set(forKey: "itemSet")
            let others = try await owners[1].set(forKey: "itemSet")
            let pairs = try await owners[1].set(forKey: "tagSet")
            func one(_ body: () async throws -> Void) async throws { try await expectStatements(["WITH"], body) }
            try await one { try await context.create("item", ["name": "f"]) }
            #expect(try await other.value("SELECT mark FROM item WHERE name = 'f'") == "touched")
            try await one { try await context.upsert("item", ["name": "f", "mark": "x"], on: "name") }
            try await one { try await items[0].setValue("A", forKey: "name") }
            #expect(items[0]["mark"] == "touched")
            try await one { try await others.insert(items[1]) }
            try await one { try await others.formUnion(items) }
            try await one { try await others.remove(items[1]) }
            try await one { try await others.subtract(items[1...2]) }
            try await expectStatements(["WITH", "WITH"]) { try await set.set(items) }
            try await one { try await set.removeAll() }
            try await one { try await pairs.insert(tags[0]) }
            try await one { try await pairs.formUnion(tags) }
            try await one { try await pairs.insert(tags[0], through: ["mark": "x"]) }
            try await one { try await pairs.remove(tags[0]) }
            try await one { try await pairs.removeAll() }
            try await one { try await context.delete(items[0]) }
            try await one { try await context.delete(items[1...2]) }
            #expect(try await other.values("SELECT name FROM item") == ["f"])
            #expect(try await other.value("SELECT count(*) FROM owner_tag WHERE owner_id = 2") == 0)
        }
    }

    @Test(.database(.sql(ObstacleWorld.fixture + ObstacleWorld.reset + touched)))
    func tablesWithoutThemHaveTheirPlainStatements() async throws {
        try await withDatabase { database, context, other in
            let owner = try await context.fetch("owner").where("id = 2").one()
            try await expectStatements(["INSERT"]) { try await context.create("owner", ["id": 4]) }
            try await expectStatements(["UPDATE"]) { try await owner.setValue("x", forKey: "name") }
            let profiles = try await context.fetch("profile").sorted("id").all()
            try await expectStatements(["DELETE"]) { try await context.delete(profiles[0]) }
        }
    }

    @Test(.database(.sql(ObstacleWorld.fixture + ObstacleWorld.reset + Obstacle.storesElsewhere.sql)))
    func theErrorTellsHowManyRowsWereKept() async throws {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            let error = await expectError(.constraintViolation) { try await context.delete(items) }
            let text =
                "A trigger, rule or policy of public.item kept 1 of 3 rows from being written as asked for; nothing was"
            #expect(error?.message.hasPrefix(text) == true, "\(String(describing: error))")
            #expect(try await other.value("SELECT count(*) FROM item") == 3)
            #expect(try await other.value("SELECT count(*) FROM elsewhere") == 0)
            // A row that is gone is not kept by anything: the transaction goes on.
            try await other.query("ALTER TABLE item DISABLE TRIGGER obstruct")
            try await other.query("DELETE FROM item WHERE id = 3")
            try await context.transaction {
                await expectError(.objectDeleted) { try await items[2].setValue("x", forKey: "mark") }
                await expectError(.objectDeleted) { try await context.delete(items[1...2]) }
                try await items[0].setValue("x", forKey: "mark")
            }
            #expect(try await other.values("SELECT mark FROM item ORDER BY id") == ["x", nil])
            await expectError(.objectDeleted) { try await context.delete(items[2]) }
            #expect(items.map(\.isDeleted) == [false, false, true])
        }
    }
}
