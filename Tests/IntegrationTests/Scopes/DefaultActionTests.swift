import Kindred
import KindredTesting
import Testing

/// ON DELETE SET DEFAULT and ON UPDATE SET DEFAULT reach rows that are hidden, too, and objects in memory follow.
@Suite struct DefaultActionTests {
    /// A way in which a child is hidden.
    private enum Kind: String, CaseIterable {
        case plain, filtered, marked, foreign, view

        var child: String { "\(rawValue)_child" }
        var parent: String { "\(rawValue)_parent" }
        /// The relationship to children: the view's, where there is one.
        var children: String { self == .view ? "shown_childSet" : "\(child)Set" }
        /// The condition of the rows that are shown.
        var shown: String {
            switch self {
            case .plain: "true"
            case .filtered, .view: "NOT hidden"
            case .marked: "deleted_at IS NULL"
            case .foreign: "tenant_id = 1"
            }
        }

        /// The tables, in a schema.
        func tables(_ schema: String) -> String {
            let tenant = self == .foreign ? ", tenant_id integer NOT NULL DEFAULT 1" : ""
            return """
                CREATE TABLE \(schema).\(parent) (id integer PRIMARY KEY\(tenant));
                CREATE TABLE \(schema).\(child) (
                    id integer PRIMARY KEY, note text, hidden boolean NOT NULL DEFAULT false, deleted_at timestamptz,
                    parent_id integer DEFAULT 3 REFERENCES \(schema).\(parent) ON DELETE SET DEFAULT ON UPDATE SET DEFAULT
                    \(tenant));
                """
        }

        func rows(_ schema: String) -> String {
            """
            DELETE FROM \(schema).\(child);
            DELETE FROM \(schema).\(parent);
            INSERT INTO \(schema).\(parent) (id) VALUES (1), (2), (3);
            INSERT INTO \(schema).\(child) (id, parent_id) VALUES (1, 1), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3);
            UPDATE \(schema).\(child) SET hidden = true, deleted_at = '2020-01-01' WHERE id IN (2, 5);
            \(self == .foreign ? "UPDATE \(schema).\(child) SET tenant_id = 2 WHERE id IN (2, 5);" : "")
            """
        }

        func context(_ database: Database) throws -> DatabaseContext {
            try self == .foreign ? database.context(ofTenant: 1) : database.makeContext()
        }
    }

    private static let schema =
        "CREATE SCHEMA twin;\n"
        + Kind.allCases.map { "\($0.tables("public"))\n\($0.tables("twin"))" }.joined(separator: "\n") + """

            COMMENT ON TABLE filtered_child IS '@kindred {"filter": "hidden == false"}';
            COMMENT ON TABLE marked_child IS '@kindred {"softDelete": "deleted_at"}';
            CREATE VIEW shown_child AS SELECT id, note, parent_id FROM view_child WHERE NOT hidden;
            """

    /// A way in which a parent goes, or gets another key, and the same in SQL.
    private static let ways:
        [(
            name: String, sql: @Sendable (_ parent: String) -> String,
            run: @Sendable (_ parent: DatabaseObject) async throws -> Void
        )] = [
            ("delete", { "DELETE FROM \($0) WHERE id = 1" }, { try await $0.context.delete($0) }),
            (
                "delete by condition", { "DELETE FROM \($0) WHERE id = 1" },
                { _ = try await $0.context.fetch($0.entity.name.description).where("id = 1").delete() }
            ),
            (
                "staged deletion", { "DELETE FROM \($0) WHERE id = 1" },
                {
                    try $0.context.stageDeletion(of: $0)
                    try await $0.context.save()
                }
            ),
            ("key", { "UPDATE \($0) SET id = 10 WHERE id = 1" }, { try await $0.setValue(10, forKey: "id") }),
            (
                "staged key", { "UPDATE \($0) SET id = 10 WHERE id = 1" },
                {
                    $0["id"] = 10
                    try await $0.context.save()
                }
            ),
        ]

    @Test(.database(.sql(schema))) func childrenGetTheDefault() async throws {
        try await withDatabase { database, _, other in
            for (kind, way) in Kind.allCases.flatMap({ kind in Self.ways.map { (kind, $0) } }) {
                for isInTransaction in [false, true] {
                    let what = "\(kind), \(way.name)\(isInTransaction ? " in a transaction" : "")"
                    for schema in ["public", "twin"] { try await other.runScript(kind.rows(schema)) }
                    let context = try kind.context(database)
                    let parents = try await context.fetch(kind.parent).sorted("id").all()
                    let children = try await context.fetch(kind.child).unfiltered().sorted("id").all()
                    var sets: [ToMany<DatabaseObject>] = []
                    for parent in parents { sets.append(try await parent.set(forKey: kind.children)) }
                    for set in sets { _ = (try await set.ids, try await set.count) }
                    for child in children { _ = try await child.object(forKey: kind.parent) }
                    if isInTransaction {
                        try await context.transaction { () async throws in try await way.run(parents[0]) }
                    } else {
                        try await way.run(parents[0])
                    }
                    try await other.runScript(way.sql("twin.\(kind.parent)"))
                    let columns = "SELECT (id, parent_id, hidden, deleted_at)::text FROM"
                    let (stored, wanted) = (
                        try await other.texts("\(columns) public.\(kind.child) ORDER BY id"),
                        try await other.texts("\(columns) twin.\(kind.child) ORDER BY id")
                    )
                    #expect(stored == wanted, "\(what)")
                    for child in children {
                        let key = try await other.integers(
                            "SELECT parent_id FROM twin.\(kind.child) WHERE id = \(child.storedID)")
                        #expect(child["parent_id"] == key.first.map { .integer($0) }, "\(what)")
                        let parent = try await child.object(forKey: kind.parent)
                        #expect(try parent?.storedID == key.first.map { Int($0) }, "\(what)")
                    }
                    for (parent, set) in zip(parents, sets) where !parent.isDeleted {
                        let members = try await other.integers(
                            """
                            SELECT id FROM twin.\(kind.child) WHERE \(kind.shown) AND parent_id = \(parent.storedID) ORDER BY 1
                            """)
                        #expect(try await set.ids == members, "\(what)")
                        #expect(try await set.count == members.count, "\(what)")
                        #expect(
                            try await context.fetch(kind.parent).where("\(kind.children).@count = %@", members.count)
                                .where("id = %@", parent.storedID).count() == 1, "\(what)")
                    }
                    for child in children { child["note"] = "written" }
                    await #expect(throws: Never.self, "\(what)") { try await context.save() }
                }
            }
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE parent (id integer PRIMARY KEY, deleted_at timestamptz);
                CREATE TABLE child (
                    id integer PRIMARY KEY,
                    parent_id integer DEFAULT 2 REFERENCES parent ON DELETE SET DEFAULT ON UPDATE SET DEFAULT);
                COMMENT ON TABLE parent IS '@kindred {"softDelete": "deleted_at"}';
                INSERT INTO parent VALUES (1), (2);
                INSERT INTO child VALUES (1, 1), (2, 2);
                """)))
    func aParentThatIsMarkedKeepsItsChildren() async throws {
        try await withDatabase { _, context, other in
            let (parent, child) = (try await context.get("parent", 1), try await context.get("child", 1))
            let keys = "SELECT parent_id FROM child ORDER BY id"
            try await context.delete(parent)
            #expect(try await other.integers(keys) == [1, 2])
            #expect(child["parent_id"] == 1)
            #expect(try await child.object(forKey: "parent") === parent)
            try await context.restore(parent)
            #expect(try await other.integers(keys) == [1, 2])
            try await context.delete(parent)
            try await context.delete(parent, permanently: true)
            #expect(try await other.integers(keys) == [2, 2])
            #expect(child["parent_id"] == 2)
            #expect(try await context.get("parent", 2).set(forKey: "childSet").ids == [1, 2])
        }
    }

    /// A helper whose pairs go to the first person where another goes, with rows that are hidden and with payload or without.
    private struct Helper: Sendable, CaseIterable {
        let name: String
        let isMarked: Bool
        let hasPayload: Bool

        static let allCases = [
            Helper(name: "marked_plain", isMarked: true, hasPayload: false),
            Helper(name: "marked_payload", isMarked: true, hasPayload: true),
            Helper(name: "filtered_plain", isMarked: false, hasPayload: false),
            Helper(name: "filtered_payload", isMarked: false, hasPayload: true),
        ]

        var shown: String { isMarked ? "deleted_at IS NULL" : "NOT hidden" }

        func table(_ schema: String) -> String {
            """
            CREATE TABLE \(schema).\(name) (
                person_id integer DEFAULT 1 REFERENCES \(schema).person ON DELETE SET DEFAULT ON UPDATE SET DEFAULT,
                team_id integer REFERENCES \(schema).team
                \(isMarked ? ", deleted_at timestamptz" : ", hidden boolean NOT NULL DEFAULT false")
                \(hasPayload ? ", copies integer DEFAULT 1" : ""), PRIMARY KEY (person_id, team_id));
            """
        }

        func rows(_ schema: String) -> String {
            let (shown, hidden) = isMarked ? ("NULL", "'2020-01-01'") : ("false", "true")
            return """
                DELETE FROM \(schema).\(name);
                INSERT INTO \(schema).person VALUES (1), (2), (3) ON CONFLICT DO NOTHING;
                INSERT INTO \(schema).\(name) VALUES
                    (1, 1, \(shown)), (2, 2, \(shown)), (2, 3, \(hidden)), (3, 2, \(hidden)), (3, 4, \(shown));
                """
        }
    }

    private static let pairs: String = {
        var script = "CREATE SCHEMA twin;"
        for schema in ["public", "twin"] {
            script += """
                CREATE TABLE \(schema).person (id integer PRIMARY KEY);
                CREATE TABLE \(schema).team (id integer PRIMARY KEY);
                INSERT INTO \(schema).team VALUES (1), (2), (3), (4);

                """
            for helper in Helper.allCases { script += helper.table(schema) }
        }
        for helper in Helper.allCases {
            let annotation = helper.isMarked ? #""softDelete": "deleted_at""# : #""filter": "hidden == false""#
            script += """
                COMMENT ON TABLE \(helper.name) IS '@kindred {\(annotation)}';
                COMMENT ON CONSTRAINT \(helper.name)_person_id_fkey ON \(helper.name) IS
                    '@kindred {"manyToMany": "\(helper.name)_teams"}';

                """
        }
        return script
    }()

    /// Payload leaves the pairs to their key; without it they are deleted with the person, hidden ones too.
    @Test(.database(.sql(pairs))) func pairsGoToTheDefaultWhereTheyHavePayload() async throws {
        try await withDatabase { database, _, other in
            for (helper, isDeletion) in Helper.allCases.flatMap({ [($0, true), ($0, false)] }) {
                let what = "\(helper.name), \(isDeletion ? "deletion" : "key")"
                for schema in ["public", "twin"] {
                    try await other.runScript(
                        Helper.allCases.map { "DELETE FROM \(schema).\($0.name);" }.joined()
                            + "DELETE FROM \(schema).person;" + helper.rows(schema))
                }
                let context = database.makeContext()
                let people = try await context.fetch("person").sorted("id").all()
                let rows = try await context.fetch(helper.name).unfiltered().all()
                var sets: [ToMany<DatabaseObject>] = []
                for person in people {
                    let set = try await person.set(forKey: "\(helper.name)_teams")
                    _ = (try await set.ids, try await set.count)
                    sets.append(set)
                }
                let table = "twin.\(helper.name)"
                if isDeletion {
                    try await context.delete(people[1])
                    try await other.runScript(
                        "\(helper.hasPayload ? "" : "DELETE FROM \(table) WHERE person_id = 2;") "
                            + "DELETE FROM twin.person WHERE id = 2")
                } else {
                    try await people[1].setValue(20, forKey: "id")
                    try await other.runScript("UPDATE twin.person SET id = 20 WHERE id = 2")
                }
                let (stored, wanted) = (
                    try await other.texts("SELECT t::text FROM \(helper.name) AS t ORDER BY 1"),
                    try await other.texts("SELECT t::text FROM \(table) AS t ORDER BY 1")
                )
                #expect(stored == wanted, "\(what)")
                for (person, set) in zip(people, sets) where !person.isDeleted {
                    let teams = try await other.integers(
                        "SELECT team_id FROM \(table) WHERE \(helper.shown) AND person_id = \(person.storedID) ORDER BY 1"
                    )
                    #expect(try await set.ids == teams, "\(what)")
                    #expect(try await set.count == teams.count, "\(what)")
                }
                let held = Set(
                    rows.filter { !$0.isDeleted }.compactMap { row -> String? in
                        guard case .integer(let person)? = row["person_id"], case .integer(let team)? = row["team_id"]
                        else { return nil }
                        return "\(person) \(team)"
                    })
                let all = try await other.texts("SELECT person_id || ' ' || team_id FROM \(table)")
                // A row whose key has become the default is another object's.
                #expect(held.isSubset(of: all) && held.isSuperset(of: all.filter { !$0.hasPrefix("1 ") }), "\(what)")
            }
        }
    }
}
