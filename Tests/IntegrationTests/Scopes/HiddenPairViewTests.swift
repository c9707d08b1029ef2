import Kindred
import KindredTesting
import Testing

/// Many-to-many relationships of views: their pairs are the tables' pairs, without hidden pairs.
@Suite struct HiddenPairViewTests {
    private static let schema =
        ScopeWorld.schema
        + HiddenPair.allCases.map {
            """
            CREATE VIEW \($0.person)_v AS SELECT * FROM \($0.person);
            CREATE VIEW \($0.team)_v AS SELECT * FROM \($0.team);
            """
        }.joined(separator: "\n")

    /// The two ends of a relationship, of which one or both are views.
    private struct Ends: Sendable {
        let kind: HiddenPair
        let person: String
        let team: String
        var teams: String { "\(team)Set" }
        var people: String { "\(person)Set" }

        /// Ends without a view, whose writes have no other test.
        static let ofTables = Ends(kind: .inherited, person: "inherited_person", team: "inherited_team")

        static let all: [Ends] = HiddenPair.allCases.flatMap { kind in
            [
                Ends(kind: kind, person: "\(kind.person)_v", team: kind.team),
                Ends(kind: kind, person: kind.person, team: "\(kind.team)_v"),
                Ends(kind: kind, person: "\(kind.person)_v", team: "\(kind.team)_v"),
            ]
        }
    }

    /// A way to read pairs, and the query whose numbers it has to give.
    private struct Read: Sendable {
        let name: String
        /// The query, of rows `m` that are pairs.
        let sql: @Sendable (_ pairs: String) -> String
        let read: @Sendable (DatabaseContext, Ends) async throws -> [Int64]
    }

    private static func ids(_ objects: [DatabaseObject]) -> [Int64] {
        objects.compactMap { if case .integer(let id)? = $0["id"] { id } else { nil } }
    }

    private static func teams(_ context: DatabaseContext, _ ends: Ends) async throws -> ToMany<DatabaseObject> {
        try await context.get(ends.person, 1).set(forKey: ends.teams)
    }

    private static let teamsOfFirst: @Sendable (String) -> String = {
        "SELECT team_id FROM \($0) WHERE person_id = 1 ORDER BY 1"
    }

    private static let reads: [Read] = [
        Read(name: "objects", sql: teamsOfFirst) { try await teams($0, $1).ids },
        Read(name: "objects of the other end", sql: { "SELECT person_id FROM \($0) WHERE team_id = 3 ORDER BY 1" }) {
            try await $0.get($1.team, 3).set(forKey: $1.people).ids
        },
        Read(name: "count", sql: { "SELECT count(*) FROM \($0) WHERE person_id = 1" }) {
            [Int64(try await teams($0, $1).count)]
        },
        Read(name: "isEmpty", sql: { "SELECT count(*) FROM \($0) WHERE team_id = 2" }) {
            [try await $0.get($1.team, 2).set(forKey: $1.people).isEmpty ? 0 : 1]
        },
        Read(name: "contains", sql: teamsOfFirst) { context, ends in
            let set = try await teams(context, ends)
            var found: [Int64] = []
            for id in 1...4 where try await set.contains(try await context.get(ends.team, id)) {
                found.append(Int64(id))
            }
            return found
        },
        Read(name: "prefetch", sql: { "SELECT team_id FROM \($0) ORDER BY person_id, team_id" }) { context, ends in
            var found: [Int64] = []
            for person in try await context.fetch(ends.person).sorted("id").prefetch(ends.teams).all() {
                found += try await person.set(forKey: ends.teams).ids
            }
            return found
        },
        Read(name: "part", sql: { "SELECT team_id FROM \($0) WHERE person_id = 1 AND team_id > 1 ORDER BY 1" }) {
            ids(try await teams($0, $1).where("id > 1").sorted("id").all())
        },
        Read(name: "count of a request", sql: { "SELECT count(*) FROM \($0) WHERE person_id = 1" }) {
            [Int64(try await teams($0, $1).request().count())]
        },
        Read(name: "ANY", sql: { "SELECT person_id FROM \($0) WHERE team_id IN (2, 4)" }) {
            ids(try await $0.fetch($1.person).where("ANY \($1.teams).id IN {2, 4}").sorted("id").all())
        },
        Read(
            name: "NONE",
            sql: {
                """
                SELECT i FROM generate_series(1, 2) AS i
                WHERE NOT EXISTS (SELECT FROM \($0) WHERE person_id = i AND team_id = 3)
                """
            }
        ) {
            ids(try await $0.fetch($1.person).where("NONE \($1.teams).id = 3").sorted("id").all())
        },
        Read(
            name: "@count",
            sql: {
                """
                SELECT i FROM generate_series(1, 2) AS i
                WHERE (SELECT count(*) FROM \($0) WHERE person_id = i) = 2
                """
            }
        ) {
            ids(try await $0.fetch($1.person).where("\($1.teams).@count = 2").sorted("id").all())
        },
        Read(name: "an object among members", sql: { "SELECT person_id FROM \($0) WHERE team_id = 2" }) {
            context, ends in
            let team = try await context.get(ends.team, 2)
            return ids(try await context.fetch(ends.person).where("ANY \(ends.teams) = %@", team).all())
        },
        Read(
            name: "order by @count",
            sql: {
                """
                SELECT i FROM generate_series(1, 4) AS i
                ORDER BY (SELECT count(*) FROM \($0) WHERE team_id = i) DESC, i
                """
            }
        ) {
            ids(try await $0.fetch($1.team).sorted("\($1.people).@count", ascending: false).sorted("id").all())
        },
    ]

    @Test(.database(.sql(schema))) func noStatementShowsHiddenPairs() async throws {
        try await withDatabase { database, _, other in
            for ends in Ends.all {
                for read in Self.reads {
                    let context = try database.context(ends.kind)
                    let (found, wanted) = (
                        try await read.read(context, ends), try await other.integers(read.sql(ends.kind.pairs))
                    )
                    #expect(found == wanted, "\(ends.person) and \(ends.team), \(read.name)")
                }
            }
        }
    }

    /// A write of the first person's teams, and the SQL that does the same to a copy of the helper; nil where it is refused.
    private struct Write: Sendable {
        let name: String
        let sql: @Sendable (HiddenPair) -> String?
        let write: @Sendable (_ teams: ToMany<DatabaseObject>, _ team: [DatabaseObject]) async throws -> Void
    }

    private static let writes: [Write] = [
        Write(name: "insert a new pair", sql: { $0.insertion(into: "twin", 4) }) { try await $0.insert($1[4]) },
        Write(name: "insert a hidden pair", sql: { $0.revival(in: "twin") }) { try await $0.insert($1[2]) },
        Write(
            name: "formUnion",
            sql: { kind in kind.revival(in: "twin").map { "\($0); \(kind.insertion(into: "twin", 4))" } }
        ) {
            try await $0.formUnion([$1[1], $1[2], $1[4]])
        },
        Write(name: "remove", sql: { $0.removal(from: "twin", "team_id = 1") }) { try await $0.remove($1[1]) },
        Write(name: "remove a hidden pair", sql: { _ in "" }) { try await $0.remove($1[2]) },
        Write(name: "subtract", sql: { $0.removal(from: "twin", "team_id IN (1, 2)") }) {
            try await $0.subtract([$1[1], $1[2]])
        },
        Write(name: "removeAll", sql: { $0.removal(from: "twin", "true") }) { teams, _ in try await teams.removeAll() },
        Write(
            name: "set", sql: { "\($0.removal(from: "twin", "team_id = 1")); \($0.insertion(into: "twin", 4))" }
        ) {
            try await $0.set([$1[3], $1[4]])
        },
    ]

    @Test(.database(.sql(schema))) func writesTouchThePairsThatAreShown() async throws {
        try await withDatabase { database, _, other in
            for (ends, write) in (Ends.all + [.ofTables]).flatMap({ ends in Self.writes.map { (ends, $0) } }) {
                let (kind, what) = (ends.kind, "\(ends.person) and \(ends.team), \(write.name)")
                try await other.runScript(kind.reset)
                try await other.makeTwin(of: kind.member)
                let context = try database.context(kind)
                let teams = try await Self.teams(context, ends)
                let ofTables = try await context.get(kind.person, 1).set(forKey: kind.teams)
                let team = try await [context.get(ends.team, 1)] + context.fetch(ends.team).sorted("id").all()
                for set in [teams, ofTables] { #expect(try await set.ids == [1, 3], "\(what)") }
                var refused: KindredError?
                do { try await write.write(teams, team) } catch let error as KindredError { refused = error }
                if let sql = write.sql(kind) {
                    #expect(refused == nil, "\(what)")
                    if !sql.isEmpty { try await other.runScript(sql) }
                } else {
                    #expect(refused?.code == .constraintViolation, "\(what): \(String(describing: refused))")
                }
                let (stored, wanted) = (
                    try await other.texts(kind.rows(of: kind.member)), try await other.texts(kind.rows(of: "twin"))
                )
                #expect(stored == wanted, "\(what)")
                for set in [teams, ofTables] {
                    #expect(
                        try await set.ids
                            == other.integers("SELECT team_id FROM \(kind.pairs) WHERE person_id = 1 ORDER BY 1"),
                        "\(what)")
                }
            }
        }
    }

    /// Views that have a filter and soft deletion of their own, and a view whose own condition hides rows.
    private static let members = """
        CREATE TABLE owner (id integer PRIMARY KEY);
        CREATE TABLE item (
            id integer PRIMARY KEY, owner_id integer REFERENCES owner, n integer NOT NULL DEFAULT 0,
            hidden boolean NOT NULL DEFAULT false, deleted_at timestamptz);
        CREATE VIEW filtered AS SELECT * FROM item;
        CREATE VIEW marked AS SELECT * FROM item;
        CREATE VIEW narrow AS SELECT id, owner_id, n, hidden FROM item WHERE NOT hidden;
        COMMENT ON VIEW filtered IS '@kindred {"filter": "hidden == false"}';
        COMMENT ON VIEW marked IS '@kindred {"softDelete": "deleted_at"}';
        INSERT INTO owner VALUES (1), (2);
        """
    private static let items = """
        DELETE FROM item;
        INSERT INTO item VALUES (1, 1), (2, 1), (3, 1), (4, 2), (5, NULL);
        UPDATE item SET hidden = true, deleted_at = '2020-01-01' WHERE id IN (2, 4);
        """

    /// The rows that a view shows, as a condition.
    private static let views = [
        ("filtered", "NOT hidden"), ("marked", "deleted_at IS NULL"), ("narrow", "NOT hidden"),
    ]

    @Test(.database(.sql(members))) func viewsShowWhatTheirFilterShows() async throws {
        try await withDatabase { database, _, other in
            try await other.runScript(Self.items)
            for (view, shown) in Self.views {
                let context = database.makeContext()
                let (request, owner) = (try context.fetch(view), try await context.get("owner", 1))
                let set = try await owner.set(forKey: "\(view)Set")
                func expect(
                    _ found: [Int64], _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
                ) async throws {
                    let wanted = try await other.integers(sql)
                    #expect(found == wanted, "\(view)", sourceLocation: sourceLocation)
                }
                let ofFirst = "SELECT id FROM item WHERE \(shown) AND owner_id = 1 ORDER BY 1"
                try await expect(Self.ids(request.sorted("id").all()), "SELECT id FROM item WHERE \(shown) ORDER BY 1")
                try await expect([Int64(request.count())], "SELECT count(*) FROM item WHERE \(shown)")
                try await expect(set.ids, ofFirst)
                try await expect([Int64(set.count)], "SELECT count(*) FROM item WHERE \(shown) AND owner_id = 1")
                try await expect(Self.ids(set.where("id > 1").sorted("id").all()), "\(ofFirst) OFFSET 1")
                try await expect(
                    Self.ids(context.fetch("owner").where("ANY \(view)Set.id IN {2, 4}").all()),
                    "SELECT owner_id FROM item WHERE \(shown) AND id IN (2, 4)")
                try await expect(
                    Self.ids(context.fetch("owner").where("\(view)Set.@count = 0").sorted("id").all()),
                    """
                    SELECT id FROM owner AS o
                    WHERE NOT EXISTS (SELECT FROM item WHERE \(shown) AND owner_id = o.id) ORDER BY 1
                    """)
                #expect(try await context.find(view, 2) == nil, "\(view)")
                if view != "narrow" { #expect(try await request.unfiltered().count() == 5, "\(view)") }
            }
        }
    }

    /// Writes through views, and the SQL that does the same to a copy.
    private static let viewWrites:
        [(
            name: String, views: [String], sql: @Sendable (_ shown: String) -> String,
            write: @Sendable (DatabaseContext, String) async throws -> Void
        )] = [
            (
                "update by condition", ["filtered", "marked", "narrow"], { "UPDATE twin SET n = 7 WHERE \($0)" },
                { _ = try await $0.fetch($1).update(["n": 7]) }
            ),
            (
                "delete by condition", ["filtered", "narrow"], { "DELETE FROM twin WHERE \($0) AND owner_id = 1" },
                { _ = try await $0.fetch($1).where("owner_id = 1").delete() }
            ),
            (
                "mark by condition", ["marked"], { "UPDATE twin SET deleted_at = now() WHERE \($0) AND owner_id = 1" },
                { _ = try await $0.fetch($1).where("owner_id = 1").delete() }
            ),
            (
                "mark an object", ["marked"], { _ in "UPDATE twin SET deleted_at = now() WHERE id = 1" },
                { context, view in try await context.delete(try await context.get(view, 1)) }
            ),
            (
                "delete a marked object for good", ["marked"], { _ in "DELETE FROM twin WHERE id = 2" },
                { context, view in try await context.delete(try await context.any(view, 2), permanently: true) }
            ),
            (
                "restore an object", ["marked"], { _ in "UPDATE twin SET deleted_at = NULL WHERE id = 2" },
                { context, view in try await context.restore(try await context.any(view, 2)) }
            ),
            (
                "removeAll", ["filtered", "marked", "narrow"],
                { "UPDATE twin SET owner_id = NULL WHERE \($0) AND owner_id = 1" },
                { try await $0.get("owner", 1).set(forKey: "\($1)Set").removeAll() }
            ),
            (
                "set", ["filtered", "marked", "narrow"],
                {
                    """
                    UPDATE twin SET owner_id = NULL WHERE \($0) AND owner_id = 1 AND id <> 3;
                    UPDATE twin SET owner_id = 1 WHERE id = 5
                    """
                },
                { context, view in
                    let (three, five) = (try await context.get(view, 3), try await context.get(view, 5))
                    try await context.get("owner", 1).set(forKey: "\(view)Set").set([three, five])
                }
            ),
        ]

    @Test(.database(.sql(members))) func writesThroughViewsTouchWhatTheirFilterShows() async throws {
        try await withDatabase { database, _, other in
            for write in Self.viewWrites {
                for (view, shown) in Self.views where write.views.contains(view) {
                    try await other.runScript(Self.items)
                    try await other.makeTwin(of: "item")
                    try await write.write(database.makeContext(), view)
                    try await other.runScript(write.sql(shown))
                    func rows(_ table: String) async throws -> [String] {
                        try await other.texts(
                            """
                            SELECT (id, owner_id, n, hidden, deleted_at IS NULL, deleted_at = '2020-01-01')::text
                            FROM \(table) ORDER BY id
                            """)
                    }
                    let (stored, wanted) = (try await rows("item"), try await rows("twin"))
                    #expect(stored == wanted, "\(view), \(write.name)")
                }
            }
        }
    }
}
