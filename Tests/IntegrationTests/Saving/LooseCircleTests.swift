import Kindred
import KindredTesting
import Testing

/// New rows of two tables that require each other's rows, by keys that only the server can compare.
@Suite struct LooseCircleTests {
    private static let schema = """
        CREATE EXTENSION citext;
        CREATE TABLE a (id citext PRIMARY KEY, b citext NOT NULL);
        CREATE TABLE b (id citext PRIMARY KEY, a citext NOT NULL);
        INSERT INTO a VALUES ('a1', 'b1');
        INSERT INTO b VALUES ('b1', 'a1');
        ALTER TABLE a ADD CONSTRAINT a_to_b FOREIGN KEY (b) REFERENCES b;
        ALTER TABLE b ADD CONSTRAINT b_to_a FOREIGN KEY (a) REFERENCES a;
        """

    /// Each of the new rows could refer to the other one, as far as memory can tell.
    @Test(.database(.sql(schema)), arguments: [false, true])
    func rowsThatReferToStoredOnesAreSaved(isOtherForm: Bool) async throws {
        try await withDatabase { database, context, other in
            let forms = isOtherForm ? ["B1", "A1"] : ["b1", "a1"]
            try context.add("a", ["id": "a2", "b": forms[0]])
            try context.add("b", ["id": "b2", "a": forms[1]])
            try await context.save()
            #expect(!context.hasStagedChanges)
            #expect(try await other.values("SELECT id::text FROM a ORDER BY id") == ["a1", "a2"])
            #expect(try await other.values("SELECT id::text FROM b ORDER BY id") == ["b1", "b2"])
            let first = try await other.value("SELECT b::text FROM a WHERE id = 'a2'")
            let second = try await other.value("SELECT a::text FROM b WHERE id = 'b2'")
            #expect([first, second] == forms.map { .string($0) })
        }
    }

    @Test(.database(.sql(schema))) func rowsThatReferToEachOtherAreRefused() async throws {
        try await withDatabase { database, context, other in
            try context.add("a", ["id": "a2", "b": "b2"])
            try context.add("b", ["id": "b2", "a": "a2"])
            await expectError(.requiredRelationship) { try await context.save() }
            #expect(try await other.value("SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)") == 2)
        }
    }
}
