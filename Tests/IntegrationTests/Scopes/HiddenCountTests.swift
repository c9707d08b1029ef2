import Kindred
import KindredTesting
import Testing

/// Largest and smallest numbers of members count the pairs that are shown, and hold for each way in which one is hidden or shown.
@Suite struct HiddenCountTests {
    /// One or two teams for each person.
    private static let schema =
        ScopeWorld.schema
        + HiddenPair.allCases.map {
            """
            COMMENT ON CONSTRAINT \($0.member)_person_id_fkey ON \($0.member) IS
                '@kindred {"manyToMany": "teams", "minimumCount": 1, "maximumCount": 2}';
            """
        }.joined(separator: "\n")

    /// A write, the kinds of pairs that have such a one, and the SQL that does the same to a copy; nil where it is refused.
    private struct Write: Sendable {
        let name: String
        var kinds = HiddenPair.allCases
        var sql: (@Sendable (HiddenPair) -> String)?
        let write: @Sendable (DatabaseContext, HiddenPair) async throws -> Void
    }

    private static func teams(
        _ context: DatabaseContext, _ kind: HiddenPair, _ person: Int
    ) async throws -> ToMany<DatabaseObject> {
        try await context.get(kind.person, person).set(forKey: "teams")
    }

    private static func team(_ context: DatabaseContext, _ kind: HiddenPair, _ id: Int) async throws -> DatabaseObject {
        try await context.get(kind.team, id)
    }

    /// The row of a pair, whether it is shown or not.
    private static func row(
        _ context: DatabaseContext, _ kind: HiddenPair, _ person: Int, _ team: Int
    ) async throws -> DatabaseObject {
        try await context.fetch(kind.member).unfiltered().where("person_id = %@ AND team_id = %@", person, team).one()
    }

    /// The first person has two teams, and a hidden pair with another: it takes no third.
    private static let growing: [Write] = [
        Write(name: "insert") { try await teams($0, $1, 1).insert(team($0, $1, 4)) },
        Write(name: "formUnion") { try await teams($0, $1, 1).formUnion([team($0, $1, 1), team($0, $1, 4)]) },
        Write(name: "set") {
            try await teams($0, $1, 1).set([team($0, $1, 1), team($0, $1, 3), team($0, $1, 4)])
        },
        Write(name: "from the other side") { context, kind in
            let person = try await context.get(kind.person, 1)
            let team = try await team(context, kind, 4)
            let key = try #require(team.entity.relationships.first { $0.inverse == "teams" }).name
            try await team.set(forKey: key).insert(person)
        },
        Write(name: "row of the helper") { _ = try await $0.create($1.member, ["person_id": 1, "team_id": 4]) },
        Write(name: "staged row of the helper") { context, kind in
            try context.add(kind.member, ["person_id": 1, "team_id": 4])
            try await context.save()
        },
        Write(name: "upsert of a row of the helper") {
            _ = try await $0.create(
                $1.member, ["person_id": 1, "team_id": 4], unlessExists: "person_id", and: "team_id")
        },
        Write(name: "insert of a marked pair", kinds: [.marked]) { try await teams($0, $1, 1).insert(team($0, $1, 2)) },
        Write(name: "restore", kinds: [.marked]) { try await $0.restore(row($0, $1, 1, 2)) },
        Write(name: "taken mark", kinds: [.marked]) {
            try await row($0, $1, 1, 2).setValue(nil, forKey: "deleted_at")
        },
        Write(name: "mark taken by a condition", kinds: [.marked]) {
            _ = try await $0.fetch($1.member).unfiltered().where("person_id = 1").update(["deleted_at": nil])
        },
        Write(name: "row that is shown", kinds: [.filtered]) {
            try await row($0, $1, 1, 2).setValue(false, forKey: "hidden")
        },
        Write(name: "staged row that is shown", kinds: [.filtered]) { context, kind in
            let row = try await row(context, kind, 1, 2)
            row["hidden"] = false
            try await context.save()
        },
        Write(name: "rows that are shown by a condition", kinds: [.filtered]) {
            _ = try await $0.fetch($1.member).unfiltered().where("person_id = 1").update(["hidden": false])
        },
    ]

    /// The second person has one team, and a hidden pair with another: the one does not go.
    private static let shrinking: [Write] = [
        Write(name: "remove") { try await teams($0, $1, 2).remove(team($0, $1, 1)) },
        Write(name: "subtract") { try await teams($0, $1, 2).subtract([team($0, $1, 1), team($0, $1, 3)]) },
        Write(name: "removeAll") { try await teams($0, $1, 2).removeAll() },
        Write(name: "set of none") { try await teams($0, $1, 2).set([]) },
        Write(name: "deleted row of the helper") { try await $0.delete(row($0, $1, 2, 1)) },
        Write(name: "staged deletion of a row of the helper") { context, kind in
            try context.stageDeletion(of: try await row(context, kind, 2, 1))
            try await context.save()
        },
        Write(name: "rows deleted by a condition") {
            _ = try await $0.fetch($1.member).where("person_id = 2 AND team_id = 1").delete()
        },
        Write(name: "row deleted for good", kinds: [.marked]) {
            try await $0.delete(row($0, $1, 2, 1), permanently: true)
        },
        Write(name: "marked row", kinds: [.marked]) {
            try await row($0, $1, 2, 1).setValue(PostgresTimestamp.now, forKey: "deleted_at")
        },
        Write(name: "hidden row", kinds: [.filtered]) {
            try await row($0, $1, 2, 1).setValue(true, forKey: "hidden")
        },
        Write(name: "rows hidden by a condition", kinds: [.filtered]) {
            _ = try await $0.fetch($1.member).where("person_id = 2").update(["hidden": true])
        },
        Write(name: "deleted team", kinds: [.filtered, .foreign, .inherited]) {
            try await $0.delete(team($0, $1, 1))
        },
    ]

    private static let allowed: [Write] = [
        Write(name: "a second team", sql: { "INSERT INTO twin VALUES (2, 4\($0 == .foreign ? ", 1" : ""))" }) {
            try await teams($0, $1, 2).insert(team($0, $1, 4))
        },
        Write(
            name: "another in place of one",
            sql: { "\($0.removal(from: "twin", "team_id = 3")); \($0.insertion(into: "twin", 4))" }
        ) { context, kind in
            try await teams(context, kind, 1).remove(team(context, kind, 3))
            try await teams(context, kind, 1).insert(team(context, kind, 4))
        },
        Write(
            name: "set of others",
            sql: { "\($0.removal(from: "twin", "team_id = 1")); \($0.insertion(into: "twin", 4))" }
        ) {
            try await teams($0, $1, 1).set([team($0, $1, 3), team($0, $1, 4)])
        },
        Write(
            name: "a marked pair in place of one", kinds: [.marked],
            sql: { "\($0.removal(from: "twin", "team_id = 3")); \($0.revival(in: "twin") ?? "")" }
        ) { context, kind in
            let (first, second) = (try await team(context, kind, 1), try await team(context, kind, 2))
            try await teams(context, kind, 1).set([first, second])
        },
        Write(name: "remove one of two", sql: { $0.removal(from: "twin", "team_id = 3") }) {
            try await teams($0, $1, 1).remove(team($0, $1, 3))
        },
    ]

    private func play(_ writes: [Write]) async throws {
        try await withDatabase { database, _, other in
            for write in writes {
                for (kind, isInTransaction) in write.kinds.flatMap({ [($0, false), ($0, true)] }) {
                    let what = "\(kind), \(write.name)\(isInTransaction ? " in a transaction" : "")"
                    try await other.runScript(kind.reset)
                    try await other.makeTwin(of: kind.member)
                    let context = try database.context(kind)
                    var refused: KindredError?
                    do {
                        if isInTransaction {
                            try await context.transaction { () async throws in try await write.write(context, kind) }
                        } else {
                            try await write.write(context, kind)
                        }
                    } catch let error as KindredError {
                        refused = error
                    }
                    if let sql = write.sql {
                        #expect(refused == nil, "\(what)")
                        try await other.runScript(sql(kind))
                    } else {
                        #expect(refused?.code == .countOutOfRange, "\(what): \(String(describing: refused))")
                        #expect(refused?.key == "teams", "\(what)")
                    }
                    let (stored, wanted) = (
                        try await other.texts(kind.rows(of: kind.member)), try await other.texts(kind.rows(of: "twin"))
                    )
                    #expect(stored == wanted, "\(what)")
                }
            }
        }
    }

    @Test(.database(.sql(schema))) func hiddenPairsDoNotMakeRoom() async throws { try await play(Self.growing) }

    @Test(.database(.sql(schema))) func hiddenPairsAreNotEnough() async throws { try await play(Self.shrinking) }

    @Test(.database(.sql(schema))) func hiddenPairsTakeNoPlace() async throws { try await play(Self.allowed) }

    /// A policy hides pairs of the helper, and another policy hides teams.
    private static let policies = """
        CREATE TABLE person (id integer PRIMARY KEY);
        CREATE TABLE team (id integer PRIMARY KEY, hidden boolean NOT NULL);
        CREATE TABLE member (
            person_id integer REFERENCES person ON DELETE CASCADE, team_id integer REFERENCES team ON DELETE CASCADE,
            hidden boolean NOT NULL DEFAULT false, PRIMARY KEY (person_id, team_id));
        COMMENT ON CONSTRAINT member_person_id_fkey ON member IS
            '@kindred {"manyToMany": "teams", "minimumCount": 1, "maximumCount": 2}';
        ALTER TABLE team ENABLE ROW LEVEL SECURITY;
        ALTER TABLE member ENABLE ROW LEVEL SECURITY;
        CREATE POLICY shown ON team USING (NOT hidden);
        CREATE POLICY shown ON member USING (NOT hidden);
        GRANT ALL ON person, team, member TO PUBLIC;
        INSERT INTO person VALUES (1), (2), (3);
        INSERT INTO team SELECT i, i > 5 FROM generate_series(1, 7) AS i;
        """
    private static let pairs = """
        DELETE FROM member;
        INSERT INTO member VALUES (1, 1, false), (1, 6, false), (1, 2, true), (2, 1, false), (2, 2, true), (2, 3, true),
            (3, 1, false), (3, 6, false);
        """

    /// Pairs whose row the role sees count, whether it sees their team or not; hidden ones do not.
    private static let ofRole:
        [(name: String, person: Int, teams: [Int], code: KindredError.Code?, sql: String, isInsertion: Bool)] = [
            ("a pair of a hidden team takes a place", 1, [3], .countOutOfRange, "", true),
            ("a hidden pair takes none", 2, [4], nil, "INSERT INTO twin VALUES (2, 4)", true),
            ("two are too many", 2, [4, 5], .countOutOfRange, "", true),
            ("a hidden pair is in the way", 2, [2], .constraintViolation, "", true),
            ("a hidden pair is not enough", 2, [1], .countOutOfRange, "", false),
            (
                "a pair of a hidden team is enough", 3, [1], nil,
                "DELETE FROM twin WHERE person_id = 3 AND team_id = 1", false
            ),
        ]

    @Test(.database(.sql(policies))) func pairsThatTheRoleSeesCount() async throws {
        try await withTenants { database, admin, _ in
            for (row, isInTransaction) in Self.ofRole.flatMap({ [($0, false), ($0, true)] }) {
                let what = "\(row.name)\(isInTransaction ? " in a transaction" : "")"
                try await admin.runScript(Self.pairs)
                try await admin.makeTwin(of: "member")
                let context = database.makeContext()
                let set = try await context.get("person", row.person).set(forKey: "teams")
                let teams = try await row.teams.asyncMap { try await context.get("team", $0) }
                var refused: KindredError?
                func call() async throws {
                    if row.isInsertion { try await set.formUnion(teams) } else { try await set.subtract(teams) }
                }
                do {
                    if isInTransaction {
                        try await context.transaction { () async throws in try await call() }
                    } else {
                        try await call()
                    }
                } catch let error as KindredError {
                    refused = error
                }
                #expect(refused?.code == row.code, "\(what): \(String(describing: refused))")
                if !row.sql.isEmpty { try await admin.runScript(row.sql) }
                let (stored, wanted) = (
                    try await admin.texts("SELECT t::text FROM member AS t ORDER BY 1"),
                    try await admin.texts("SELECT t::text FROM twin AS t ORDER BY 1")
                )
                #expect(stored == wanted, "\(what)")
                // Members are the teams that the role sees.
                let shown = try await admin.integers(
                    """
                    SELECT team_id FROM member JOIN team ON team.id = team_id
                    WHERE person_id = \(row.person) AND NOT member.hidden AND NOT team.hidden ORDER BY 1
                    """)
                #expect(try await set.ids == shown, "\(what)")
                #expect(try await set.count == shown.count, "\(what)")
            }
        }
    }
}
