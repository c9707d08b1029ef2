import Kindred
import KindredTesting
import Testing

/// Views over a partitioned table and over single partitions; one view stores new rows elsewhere.
@Suite struct PartitionViewTests {
    private static let schema = """
        CREATE TABLE part (id integer, kind text, name text, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
        CREATE TABLE part_a PARTITION OF part FOR VALUES IN ('a');
        CREATE TABLE part_b PARTITION OF part FOR VALUES IN ('b');
        CREATE TABLE elsewhere (operation text);
        CREATE FUNCTION divert() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO elsewhere VALUES (TG_OP); RETURN NULL; END $$;
        CREATE TRIGGER divert BEFORE INSERT ON part_b FOR EACH ROW EXECUTE FUNCTION divert();
        CREATE VIEW shown AS SELECT id, kind, name FROM part;
        CREATE VIEW outermost AS SELECT id, kind, name FROM shown;
        CREATE VIEW only_a AS SELECT id, kind, name FROM part_a;
        CREATE VIEW only_b AS SELECT id, kind, name FROM part_b;
        COMMENT ON VIEW only_a IS '@kindred {"key": "id"}';
        COMMENT ON VIEW only_b IS '@kindred {"key": "id"}';
        INSERT INTO part VALUES (1, 'a', 'one');
        """

    private static let rows: SQL = "SELECT concat_ws(' ', id, kind, name) FROM part ORDER BY id"

    @Test(.database(.sql(schema)), arguments: ["shown", "outermost"])
    func aRowThatCannotMoveToAnotherPartitionStaysWhereItIs(view: String) async throws {
        try await withDatabase { database, context, other in
            let object = try await context.fetch(view).where("id = 1").one()
            await expectError(.constraintViolation) { try await object.setValue("b", forKey: "kind") }
            #expect(!object.isDeleted && object["kind"] == "a")
            #expect(try await other.values(Self.rows) == ["1 a one"])
            object["kind"] = "b"
            await #expect(throws: KindredError.self) { try await context.save() }
            context.rollback()
            #expect(!object.isDeleted && object["kind"] == "a")
            #expect(try await other.values(Self.rows) == ["1 a one"])
            #expect(try await other.value("SELECT count(*) FROM elsewhere") == 0)
            #expect(try await context.fetch(view).all() == [object])
            // A change that does not move the row meets no obstacle.
            try await object.setValue("new", forKey: "name")
            #expect(try await other.values(Self.rows) == ["1 a new"])
        }
    }

    @Test(.database(.sql(schema))) func aNewRowOfOnePartitionIsStoredThereOrNowhere() async throws {
        try await withDatabase { database, context, other in
            await expectError(.constraintViolation) {
                try await context.create("only_b", ["id": 2, "kind": "b", "name": "two"])
            }
            #expect(try await other.value("SELECT count(*) FROM elsewhere") == 0)
            try context.add("only_b", ["id": 2, "kind": "b", "name": "two"])
            await expectError(.constraintViolation) { try await context.save() }
            context.rollback()
            #expect(try await other.value("SELECT count(*) FROM elsewhere") == 0)
            #expect(try await other.values(Self.rows) == ["1 a one"])
            let made = try await context.create("only_a", ["id": 3, "kind": "a", "name": "three"])
            #expect(try await made["name"] == other.value("SELECT name FROM part WHERE id = 3"))
        }
    }
}
