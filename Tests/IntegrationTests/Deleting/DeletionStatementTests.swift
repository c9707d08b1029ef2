import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE parent (id integer PRIMARY KEY, code text UNIQUE);
    CREATE TABLE child (id integer PRIMARY KEY, parent_id integer REFERENCES parent, code text REFERENCES parent (code));
    CREATE TABLE grandchild (id integer PRIMARY KEY, child_id integer NOT NULL REFERENCES child);
    CREATE TABLE log (line text, child_id integer REFERENCES child);
    CREATE INDEX ON child (parent_id);
    CREATE INDEX ON child (code);
    CREATE INDEX ON grandchild (child_id);
    CREATE TABLE node (id integer PRIMARY KEY, parent_id integer REFERENCES node ON DELETE CASCADE);
    CREATE TABLE leaf (id integer PRIMARY KEY, node_id integer REFERENCES node ON DELETE CASCADE);
    CREATE TABLE egg (id integer PRIMARY KEY, hen_id integer NOT NULL);
    CREATE TABLE hen (id integer PRIMARY KEY, egg_id integer NOT NULL REFERENCES egg);
    INSERT INTO egg VALUES (1, 2), (2, 1), (3, 3);
    INSERT INTO hen VALUES (1, 1), (2, 2), (3, 3);
    ALTER TABLE egg ADD FOREIGN KEY (hen_id) REFERENCES hen;
    COMMENT ON CONSTRAINT child_parent_id_fkey ON child IS '@kindred {"deleteRule": "cascade"}';
    COMMENT ON CONSTRAINT child_code_fkey ON child IS '@kindred {"deleteRule": "nullify"}';
    COMMENT ON CONSTRAINT grandchild_child_id_fkey ON grandchild IS '@kindred {"deleteRule": "cascade"}';
    COMMENT ON CONSTRAINT log_child_id_fkey ON log IS '@kindred {"deleteRule": "cascade"}';
    COMMENT ON CONSTRAINT hen_egg_id_fkey ON hen IS '@kindred {"deleteRule": "cascade", "toOneDeleteRule": "cascade"}';
    COMMENT ON CONSTRAINT egg_hen_id_fkey ON egg IS '@kindred {"deleteRule": "cascade", "toOneDeleteRule": "cascade"}';
    INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c');
    INSERT INTO child SELECT i, 1, 'b' FROM generate_series(1, 10) AS i;
    INSERT INTO child SELECT i, 2, 'c' FROM generate_series(11, 12000) AS i;
    INSERT INTO grandchild SELECT i, i FROM generate_series(1, 12000) AS i;
    INSERT INTO log SELECT 'line', i FROM generate_series(1, 20) AS i;
    INSERT INTO node SELECT i, nullif(i / 2, 0) FROM generate_series(1, 31) AS i;
    INSERT INTO leaf SELECT i, i FROM generate_series(1, 31) AS i;
    """

/// The statements of deletions, and the rows that they leave.
@Suite struct DeletionStatementTests {
    @Test(.database(.sql(schema))) func theNumberOfRowsDoesNotCount() async throws {
        try await withDatabase { database, context, other in
            let small = try await context.fetch("parent").where("id = 1").one()
            let large = try await context.fetch("parent").where("id = 2").one()
            let (_, few) = try await recordingStatements { try await context.delete(small) }
            let (_, many) = try await recordingStatements { try await context.delete(large) }
            // The parent, its children, their grandchildren, codes that are nullified, and everything at once.
            #expect(few.statements.count == 5, "\(few.statements)")
            // Beyond 10,000 keys there is a statement for each slice.
            #expect(many.statements.count == 6, "\(many.statements)")
            #expect(few.all.filter { $0.kind == .transactionControl }.map(\.sql) == ["BEGIN", "COMMIT"])
            #expect(try await other.value("SELECT count(*) FROM child") == 0)
            #expect(try await other.value("SELECT count(*) FROM grandchild") == 0)
            #expect(try await other.value("SELECT count(*) FROM log") == 0)
        }
    }

    @Test(.database(.sql(schema))) func whatTheDatabaseDoesIsOneDelete() async throws {
        try await withDatabase { database, context, other in
            let nodes = try await context.fetch("node").sorted("id").all()
            try await expectStatements(["DELETE"]) { () async throws in try await context.delete(nodes[1]) }
            #expect(
                nodes.filter(\.isDeleted).map { $0["id"] } == [2, 4, 5, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23])
            try await expectStatements(["WITH"]) { () async throws in try await context.delete([nodes[13], nodes[14]]) }
            #expect(try await other.value("SELECT count(*) FROM node") == 10)
            #expect(try await other.value("SELECT count(*) FROM leaf") == 10)
            try await expectStatements(["DELETE"]) { () async throws in
                #expect(try await context.fetch("node").where("id >= 6").delete() == 8)
            }
            #expect(nodes.filter { !$0.isDeleted }.map { $0["id"] } == [1, 3])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE note (id integer PRIMARY KEY, parent_id integer REFERENCES note);
                COMMENT ON CONSTRAINT note_parent_id_fkey ON note IS '@kindred {"deleteRule": "cascade"}';
                INSERT INTO note VALUES (1, NULL), (2, 1), (3, 1), (4, 2), (5, NULL);
                """)))
    func aRequestCountsTheRowsThatItSelects() async throws {
        try await withDatabase { database, context, other in
            let count = try await context.fetch("note").where("id < 3").delete()
            #expect(count == 2)
            #expect(try await other.values("SELECT id FROM note") == [5])
        }
    }

    @Test(.database(.sql(schema))) func objectsReachedThroughRowsWithoutObjectsAreReadAgain() async throws {
        try await withDatabase { database, context, other in
            let root = try await context.fetch("node").where("id = 1").one()
            let second = try await context.fetch("node").where("id = 2").one()
            let leaves = try await context.fetch("leaf").where("id IN %@", [9, 3, 12]).sorted("id").all()
            let last = try await context.fetch("node").where("id = 3").one()
            _ = try await last.set(forKey: "leafSet").objects
            try await expectStatements(["DELETE", "SELECT"]) { () async throws in try await context.delete(second) }
            #expect(leaves.map(\.isDeleted) == [false, true, false])
            #expect(!root.isDeleted)
            try await context.delete(root)
            #expect(leaves.filter(\.isDeleted).count == 3)
            #expect(last.isDeleted)
        }
    }

    @Test(.database(.sql(schema))) func rowsThatReferToEachOtherGoTogether() async throws {
        try await withDatabase { database, context, other in
            let hens = try await context.fetch("hen").sorted("id").all()
            try await context.delete(hens[0])
            #expect(hens.map(\.isDeleted) == [true, true, false])
            #expect(try await other.values("SELECT id FROM egg") == [3])
            try await context.delete(hens[2])
            #expect(try await other.value("SELECT count(*) FROM egg") == 0)
        }
    }

    @Test(.database(.sql(schema))) func aPlanSaysWhatWouldHappenAndChangesNothing() async throws {
        try await withDatabase { database, context, other in
            let parents = try await context.fetch("parent").sorted("id").all()
            let plan = try await context.deletionPlan(for: parents[0])
            #expect(plan.deleted.count == 21 && !plan.isDenied)
            let found = plan.items.map { "\($0.entity.name) \($0.rule.map { "\($0)" } ?? "-") \($0.objects.count)" }
            #expect(found == ["parent - 1", "child cascade 10", "grandchild cascade 10"])
            let third = try await context.deletionPlan(for: parents[2])
            #expect(
                third.items.map { "\($0.rule.map { "\($0)" } ?? "-") \($0.objects.count)" } == ["- 1", "nullify 11990"])
            #expect(try await other.value("SELECT count(*) FROM parent") == 3)
            #expect(parents.filter(\.isDeleted).isEmpty)
        }
    }

    @Test(.database(.sql(schema))) func aChildInsertedDuringADeletionIsRefused() async throws {
        try await withDatabase { database, context, other in
            let parent = try await context.fetch("parent").where("id = 1").one()
            try database.beforeDeletion(of: "parent") { _ in
                await #expect(throws: PostgresError.self) { () async throws in
                    _ = try await other.query("INSERT INTO child VALUES (99999, 1)", timeout: .milliseconds(300))
                }
            }
            try await context.delete(parent)
            #expect(try await other.value("SELECT count(*) FROM child WHERE parent_id = 1") == 0)
        }
    }

    @Test(.database(.sql(schema))) func rowsThatAreGoneAreSaidToBe() async throws {
        try await withDatabase { database, context, other in
            let parents = try await context.fetch("parent").sorted("id").all()
            let nodes = try await context.fetch("node").where("id > 29").sorted("id").all()
            _ = try await other.query("DELETE FROM node WHERE id = 30")
            _ = try await other.query("UPDATE child SET code = NULL")
            _ = try await other.query("DELETE FROM parent WHERE id = 3")
            await expectError(.objectDeleted) { try await context.delete(nodes) }
            #expect(try await other.value("SELECT count(*) FROM node WHERE id = 31") == 1)
            await expectError(.objectDeleted) { try await context.delete(parents) }
            #expect(parents.map(\.isDeleted) == [false, false, true])
            #expect(try await other.value("SELECT count(*) FROM parent") == 2)
            await expectError(.objectDeleted) { try await context.delete(nodes[0]) }
            #expect(nodes.map(\.isDeleted) == [true, false])
        }
    }

    @Test(.database(.sql(schema))) func aDeletionInATransactionThatFailsIsUndoneInMemory() async throws {
        struct Undo: Error {}
        try await withDatabase { database, context, other in
            let parent = try await context.fetch("parent").where("id = 1").one()
            let children = try await parent.set(forKey: "parent_childSet").objects
            let other2 = try await context.fetch("child").where("id = 11").one()
            await #expect(throws: Undo.self) { () async throws in
                try await context.transaction {
                    try await context.delete(parent)
                    #expect(children.filter(\.isDeleted).count == 10)
                    throw Undo()
                }
            }
            #expect(!parent.isDeleted)
            #expect(children.filter(\.isDeleted).isEmpty)
            #expect(!other2.isDeleted)
            #expect(try await parent.set(forKey: "parent_childSet").count == 10)
            try await children[0].setValue(nil, forKey: "parent")
            #expect(try await parent.set(forKey: "parent_childSet").count == 9)
        }
    }
}
