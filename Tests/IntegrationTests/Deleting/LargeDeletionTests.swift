import Kindred
import KindredTesting
import Testing

private let rows = 100_000

private let schema = """
    CREATE TABLE parent (id integer PRIMARY KEY);
    CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL REFERENCES parent);
    COMMENT ON CONSTRAINT child_parent_id_fkey ON child IS '@kindred {"deleteRule": "cascade"}';
    CREATE INDEX ON child (parent_id);
    CREATE TABLE owner (id integer PRIMARY KEY);
    CREATE TABLE item (id integer PRIMARY KEY, owner_id integer NOT NULL REFERENCES owner ON DELETE CASCADE);
    CREATE INDEX ON item (owner_id);
    INSERT INTO parent VALUES (1), (2);
    INSERT INTO child SELECT n, CASE WHEN n <= 10 THEN 1 ELSE 2 END FROM generate_series(1, \(rows + 10)) AS n;
    INSERT INTO owner VALUES (1), (2);
    INSERT INTO item SELECT n, CASE WHEN n <= 10 THEN 1 ELSE 2 END FROM generate_series(1, \(rows + 10)) AS n;
    """

/// A hundred thousand rows go with as many statements as ten.
@Suite struct LargeDeletionTests {
    @Test(.database(.sql(schema), timeLimit: .seconds(900)), arguments: [("parent", "child"), ("owner", "item")])
    func aHundredThousandCascadedChildrenCostNoMoreStatementsThanTen(_ entity: String, _ member: String) async throws {
        try await withDatabase { database, context, other in
            let (small, large) = (
                try await context.fetch(entity).where("id = 1").one(),
                try await context.fetch(entity).where("id = 2").one()
            )
            let held = try await context.fetch(member).where("id IN %@", [1, rows]).sorted("id").all()
            let (_, few) = try await recordingStatements { try await context.delete(small) }
            #expect(held.map(\.isDeleted) == [true, false])
            let (_, many) = try await recordingStatements { try await context.delete(large) }
            #expect(held.map(\.isDeleted) == [true, true])
            #expect(many.statements.count == few.statements.count, "\(many.statements)")
            #expect(few.statements.count == (entity == "owner" ? 1 : 3), "\(few.statements)")
            #expect(try await other.value("SELECT count(*) FROM \(identifier: member)") == 0)
        }
    }
}
