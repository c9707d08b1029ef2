import Kindred
import KindredTesting
import TestSupport
import Testing

/// Rows in memory after actions of the database (ON DELETE, ON UPDATE) have changed them: as the database has them, and ready
/// for the next write.
@Suite struct DatabaseActionTests {
    /// Kinds of tables, with the column `extra`, which the server changes with the foreign key.
    private static let kinds: [(name: String, extra: String)] = [
        ("plain", "text"),
        ("generated", "text GENERATED ALWAYS AS (coalesce(parent_id, 0)::text || coalesce(code, '-')) STORED"),
        ("triggered", "integer NOT NULL DEFAULT 0"), ("locked", "text"), ("counted", "integer NOT NULL DEFAULT 1"),
    ]
    private static let actions = [("SET NULL", "CASCADE"), ("SET DEFAULT", "SET DEFAULT"), ("SET NULL", "SET NULL")]

    private static let schema: String = {
        var script = """
            CREATE TABLE parent (id integer PRIMARY KEY, code text UNIQUE, note text);
            CREATE FUNCTION count_changes() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.extra = OLD.extra THEN NEW.extra = OLD.extra + 1; END IF; RETURN NEW; END $$;
            """
        for (kind, extra) in kinds {
            for (place, (onDelete, onUpdate)) in actions.enumerated() {
                let table = "\(kind)_\(place)"
                script += """
                    CREATE TABLE \(table) (id integer PRIMARY KEY, note text, extra \(extra),
                        parent_id integer DEFAULT 3 REFERENCES parent ON DELETE \(onDelete) ON UPDATE \(onUpdate),
                        code text DEFAULT 'c' REFERENCES parent (code) ON DELETE \(onDelete) ON UPDATE \(onUpdate));

                    """
                if kind == "triggered" || kind == "counted" {
                    script += """
                        CREATE TRIGGER counting BEFORE UPDATE ON \(table) FOR EACH ROW EXECUTE FUNCTION count_changes();

                        """
                }
                if kind == "counted" {
                    script += "COMMENT ON COLUMN \(table).extra IS '@kindred {\"version\": true}';\n"
                }
                if kind == "locked" {
                    script += "COMMENT ON TABLE \(table) IS '@kindred {\"optimisticLocking\": \"xmin\"}';\n"
                }
            }
        }
        return script
    }()

    /// The ways by which a parent goes, or gets another key.
    private enum Way: CaseIterable {
        case deletion, deletionByCondition, savedDeletion, key, savedKey, byCondition, byConditionUnheld

        func run(on parent: DatabaseObject, in context: DatabaseContext) async throws {
            switch self {
            case .deletion: try await context.delete(parent)
            case .deletionByCondition: _ = try await context.fetch("parent").where("id = 1").delete()
            case .savedDeletion:
                try context.stageDeletion(of: parent)
                try await context.save()
            case .key: try await parent.setValues(["id": 10, "code": "x"])
            case .savedKey:
                parent["id"] = 10
                parent["code"] = "x"
                try await context.save()
            case .byCondition, .byConditionUnheld:
                _ = try await context.fetch("parent").where("id = 1").update(["code": "x"])
            }
        }
    }

    @Test(.database(.sql(schema))) func rowsAreAsTheDatabaseHasThemAndCanBeWritten() async throws {
        try await withDatabase { (database, _, other) async throws in
            let emptying = Self.kinds.flatMap { kind in
                Self.actions.indices.map { "DELETE FROM \(kind.0)_\($0);" }
            }.joined(separator: " ")
            for (kind, _) in Self.kinds {
                for (place, (onDelete, onUpdate)) in Self.actions.enumerated() {
                    for way in Way.allCases {
                        let table = "\(kind)_\(place)"
                        try await other.runScript(
                            """
                            \(emptying) DELETE FROM parent;
                            INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c');
                            INSERT INTO \(table) (id, parent_id, code) VALUES (1, 1, 'a'), (2, 2, 'b');
                            """)
                        let context = database.makeContext()
                        let children = try await context.fetch(table).sorted("id").all()
                        let parent = try await (way == .byConditionUnheld ? database.makeContext() : context)
                            .get("parent", 1)
                        let (_, sent) = try await recordingStatements { try await way.run(on: parent, in: context) }
                        let isDeletion = way == .deletion || way == .deletionByCondition
                        let isReadAgain =
                            kind != "plain" || (isDeletion ? onDelete : onUpdate) == "SET DEFAULT"
                            || way == .byConditionUnheld
                        if isDeletion || way == .key || way == .byCondition || way == .byConditionUnheld {
                            #expect(
                                sent.statements.count == (isReadAgain ? 2 : 1), "\(table), \(way): \(sent.statements)")
                        }
                        let rows = try await other.query(
                            "SELECT parent_id::text, code, extra::text FROM \(unsafeRaw: table) ORDER BY id")
                        for (child, row) in zip(children, rows) {
                            for (position, key) in ["parent_id", "code", "extra"].enumerated() {
                                #expect(
                                    child[key]?.description == (try row[position])?.description,
                                    "\(table).\(key), \(way)")
                            }
                            child["note"] = "written"
                        }
                        await #expect(throws: Never.self, "\(table), \(way)") { try await context.save() }
                    }
                }
            }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE top (id integer PRIMARY KEY, code text UNIQUE);
                CREATE TABLE middle (id integer PRIMARY KEY, code text UNIQUE REFERENCES top (code) ON UPDATE CASCADE ON DELETE SET NULL);
                CREATE TABLE leaf (id integer PRIMARY KEY, code text REFERENCES middle (code) ON UPDATE CASCADE);
                CREATE TABLE part (id integer, top_id integer DEFAULT 2 REFERENCES top ON UPDATE CASCADE, length integer,
                    size integer GENERATED ALWAYS AS (length * 2) STORED, PRIMARY KEY (id, top_id)) PARTITION BY LIST (top_id);
                CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
                CREATE TABLE part_n PARTITION OF part DEFAULT;
                CREATE FUNCTION lengthen() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN NEW.length = NEW.length + 1; RETURN NEW; END $$;
                CREATE TRIGGER lengthening BEFORE UPDATE ON part FOR EACH ROW EXECUTE FUNCTION lengthen();
                INSERT INTO top VALUES (1, 'a'), (2, 'b');
                INSERT INTO middle VALUES (1, 'a'), (2, 'b');
                INSERT INTO leaf VALUES (1, 'a'), (2, 'b');
                INSERT INTO part VALUES (1, 1, 1);
                """)))
    func cascadesBehindRowsWithoutObjectsAndIntoOtherPartitionsAreFollowed() async throws {
        try await withDatabase { (database, context, other) async throws in
            let tops = try await context.fetch("top").sorted("id").all()
            let leaves = try await context.fetch("leaf").sorted("id").all()
            // Nothing of the table between is in memory.
            try await expectStatements(["UPDATE", "SELECT"]) { () async throws in
                try await tops[0].setValue("x", forKey: "code")
            }
            #expect(leaves.map { $0["code"] } == ["x", "b"])
            try await expectStatements(["DELETE", "SELECT"]) { () async throws in
                try await context.fetch("top").where("id = 2").delete()
            }
            #expect(leaves.map { $0["code"] } == ["x", nil])
            try await other.runScript("INSERT INTO top VALUES (2, 'b'); INSERT INTO part VALUES (2, 2, 1)")
            let parts = try await context.fetch("part").sorted("id").all()
            try await expectStatements(["UPDATE", "SELECT"]) { () async throws in
                try await tops[0].setValue(5, forKey: "id")
            }
            #expect(
                parts[0]["top_id"] == 5 && parts[0]["length"] == 2 && parts[0]["size"] == 4 && parts[1]["length"] == 1)
            #expect(try await other.value("SELECT size FROM part_n WHERE top_id = 5") == 4)
            #expect(try await context.fetch("part").where("top_id = 5").one() === parts[0])
            // Nothing is held.
            let empty = database.makeContext()
            let top = try await empty.get("top", 5)
            try await expectStatements(["UPDATE"]) { () async throws in
                try await top.setValues(["id": 6, "code": "y"])
            }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE owner (id integer PRIMARY KEY);
                CREATE TABLE thing (
                    id integer PRIMARY KEY, former_id integer REFERENCES owner ON DELETE SET NULL,
                    owner_id integer REFERENCES owner ON DELETE CASCADE);
                CREATE TABLE piece (id integer PRIMARY KEY, thing_id integer REFERENCES thing ON DELETE CASCADE);
                INSERT INTO owner VALUES (1), (2);
                INSERT INTO thing VALUES (1, NULL, 1), (2, 1, 2);
                INSERT INTO piece VALUES (1, 1), (2, 2);
                """)), arguments: [false, true])
    func aCascadeIsFollowedBesideAnotherActionOnTheSameTable(isByCondition: Bool) async throws {
        try await withDatabase { (_, context, other) async throws in
            let pieces = try await context.fetch("piece").sorted("id").all()
            // No thing is in memory.
            if isByCondition {
                try await context.fetch("owner").where("id = 1").delete()
            } else {
                try await context.delete(try await context.get("owner", 1))
            }
            #expect(try await other.value("SELECT string_agg(id::text, ' ') FROM piece") == "2")
            #expect(pieces.map(\.isDeleted) == [true, false])
        }
    }
}
