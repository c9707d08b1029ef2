import Kindred
import KindredTesting
import Testing

/// Marking an end marks its pairs where the helper's key says CASCADE, at the same moment; restoring it brings these back.
@Suite struct RestoredPairTests {
    /// Both ends and three helpers: with CASCADE on both keys, on one, and on none.
    private static let schema =
        """
        CREATE TABLE company (id integer PRIMARY KEY, deleted_at timestamptz);
        CREATE TABLE person (
            id integer PRIMARY KEY, company_id integer REFERENCES company ON DELETE CASCADE, deleted_at timestamptz);
        CREATE TABLE team (id integer PRIMARY KEY, deleted_at timestamptz);
        \([("paired", "CASCADE", "CASCADE"), ("halved", "CASCADE", "NO ACTION"), ("loose", "NO ACTION", "NO ACTION")].map {
            """
            CREATE TABLE \($0) (
                person_id integer REFERENCES person ON DELETE \($1), team_id integer REFERENCES team ON DELETE \($2),
                note text DEFAULT 'new', deleted_at timestamptz, PRIMARY KEY (person_id, team_id));
            COMMENT ON CONSTRAINT \($0)_person_id_fkey ON \($0) IS '@kindred {"manyToMany": "\($0)_teams"}';
            COMMENT ON CONSTRAINT \($0)_team_id_fkey ON \($0) IS '@kindred {"manyToMany": "\($0)_people"}';
            """
        }.joined(separator: "\n"))
        """
        + ["company", "person", "team", "paired", "halved", "loose"].map {
            #"COMMENT ON TABLE \#($0) IS '@kindred {"softDelete": "deleted_at"}';"#
        }.joined(separator: "\n")

    private static let helpers = ["paired", "halved", "loose"]

    /// The rows at first, each with a mark of its own where it has one.
    private static let rows =
        """
        TRUNCATE company, person, team, paired, halved, loose;
        INSERT INTO company VALUES (1);
        INSERT INTO person VALUES (1, 1), (2, 1), (3, NULL);
        INSERT INTO team VALUES (1), (2), (3), (4);
        UPDATE team SET deleted_at = '2019-01-01' WHERE id = 3;
        """
        + helpers.map {
            """
            INSERT INTO \($0) VALUES
                (1, 1, 'a'), (1, 2, 'b'), (1, 3, 'c'), (1, 4, 'd'), (2, 1, 'e'), (2, 2, 'f'), (3, 1, 'g'), (3, 4, 'h');
            UPDATE \($0) SET deleted_at = '2020-01-01' WHERE note IN ('b', 'f', 'h');
            """
        }.joined()

    /// One step, and its effect on marks, as statements of SQL; moments are numbered from 2030 on.
    private struct Step: Sendable {
        let sql: [String]
        let run: @Sendable (DatabaseContext) async throws -> Void
    }

    private static func mark(_ table: String, _ condition: String, _ moment: Int) -> String {
        "UPDATE \(table) SET deleted_at = '20\(30 + moment)-01-01' WHERE deleted_at IS NULL AND \(condition)"
    }

    private static func unmark(_ table: String, _ condition: String, _ moment: Int) -> String {
        "UPDATE \(table) SET deleted_at = NULL WHERE deleted_at = '20\(30 + moment)-01-01' AND \(condition)"
    }

    /// The first person is marked, and so are its pairs where the helper says so.
    private static func personGoes(_ moment: Int) -> [String] {
        ["person", "paired", "halved"].map {
            mark($0, $0 == "person" ? "id = 1" : "person_id = 1", moment)
        }
    }

    private static func personReturns(_ moment: Int) -> [String] {
        ["person", "paired", "halved"].map {
            unmark($0, $0 == "person" ? "id = 1" : "person_id = 1", moment)
        }
    }

    private static func teamGoes(_ moment: Int) -> [String] {
        [mark("team", "id = 1", moment), mark("paired", "team_id = 1", moment)]
    }

    private static func teamReturns(_ moment: Int) -> [String] {
        [unmark("team", "id = 1", moment), unmark("paired", "team_id = 1", moment)]
    }

    private static let deletePerson: @Sendable (DatabaseContext) async throws -> Void = {
        try await $0.delete($0.any("person", 1))
    }
    private static let restorePerson: @Sendable (DatabaseContext) async throws -> Void = {
        try await $0.restore($0.any("person", 1))
    }
    private static let deleteTeam: @Sendable (DatabaseContext) async throws -> Void = {
        try await $0.delete($0.any("team", 1))
    }
    private static let restoreTeam: @Sendable (DatabaseContext) async throws -> Void = {
        try await $0.restore($0.any("team", 1))
    }

    private static let stories: [(name: String, steps: [Step])] = [
        (
            "a person goes and returns",
            [Step(sql: personGoes(1), run: deletePerson), Step(sql: personReturns(1), run: restorePerson)]
        ),
        (
            "by a condition",
            [
                Step(sql: personGoes(1)) { _ = try await $0.fetch("person").where("id = 1").delete() },
                Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
        (
            "staged",
            [
                Step(sql: personGoes(1)) {
                    try $0.stageDeletion(of: try await $0.any("person", 1))
                    try await $0.save()
                },
                Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
        (
            "in transactions",
            [
                Step(sql: personGoes(1)) { context in
                    try await context.transaction { () async throws in try await deletePerson(context) }
                },
                Step(sql: personReturns(1)) { context in
                    try await context.transaction { () async throws in try await restorePerson(context) }
                },
            ]
        ),
        (
            "a team goes and returns",
            [Step(sql: teamGoes(1), run: deleteTeam), Step(sql: teamReturns(1), run: restoreTeam)]
        ),
        (
            "both ends, the last returns first",
            [
                Step(sql: personGoes(1), run: deletePerson), Step(sql: teamGoes(2), run: deleteTeam),
                Step(sql: teamReturns(2), run: restoreTeam), Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
        (
            "both ends, the first returns first",
            [
                Step(sql: personGoes(1), run: deletePerson), Step(sql: teamGoes(2), run: deleteTeam),
                Step(sql: personReturns(1), run: restorePerson), Step(sql: teamReturns(2), run: restoreTeam),
            ]
        ),
        (
            "a pair that was restored before stays",
            [
                Step(sql: personGoes(1), run: deletePerson),
                Step(sql: ["UPDATE paired SET deleted_at = NULL WHERE person_id = 1 AND team_id = 4"]) { context in
                    let row = try await context.fetch("paired").unfiltered().where("person_id = 1 AND team_id = 4")
                        .one()
                    try await context.restore(row)
                },
                Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
        (
            "a company takes its people with it",
            [
                Step(
                    sql: ["company", "person", "paired", "halved"].map {
                        let condition = ["company": "id = 1", "person": "company_id = 1"][$0]
                        return mark($0, condition ?? "person_id IN (1, 2)", 1)
                    }
                ) { try await $0.delete($0.any("company", 1)) },
                Step(
                    sql: ["company", "person", "paired", "halved"].map {
                        let condition = ["company": "id = 1", "person": "company_id = 1"][$0]
                        return unmark($0, condition ?? "person_id IN (1, 2)", 1)
                    }
                ) { try await $0.restore($0.any("company", 1)) },
            ]
        ),
        (
            "a person that went before its company stays away",
            [
                Step(sql: personGoes(1), run: deletePerson),
                Step(
                    sql: [mark("company", "id = 1", 2), mark("person", "id = 2", 2)]
                        + ["paired", "halved"].map { mark($0, "person_id = 2", 2) }
                ) { try await $0.delete($0.any("company", 1)) },
                Step(
                    sql: [unmark("company", "id = 1", 2), unmark("person", "id = 2", 2)]
                        + ["paired", "halved"].map { unmark($0, "person_id = 2", 2) }
                ) { try await $0.restore($0.any("company", 1)) },
                Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
        (
            "several people at once",
            [
                Step(
                    sql: [mark("person", "id IN (1, 2)", 1)]
                        + ["paired", "halved"].map { mark($0, "person_id IN (1, 2)", 1) }
                ) { try await $0.delete([$0.any("person", 1), $0.any("person", 2)]) },
                Step(
                    sql: [unmark("person", "id = 1", 1)] + ["paired", "halved"].map { unmark($0, "person_id = 1", 1) },
                    run: restorePerson),
                Step(
                    sql: [unmark("person", "id = 2", 1)] + ["paired", "halved"].map { unmark($0, "person_id = 2", 1) }
                ) { try await $0.restore([$0.any("person", 1), $0.any("person", 2)]) },
            ]
        ),
        (
            "what is removed while another end is away stays removed",
            [
                Step(sql: teamGoes(1), run: deleteTeam),
                Step(sql: ["halved", "loose"].map { mark($0, "person_id = 1 AND team_id = 4", 2) }) { context in
                    let (person, four) = (try await context.get("person", 1), try await context.get("team", 4))
                    for helper in ["halved", "loose"] { try await person.set(forKey: "\(helper)_teams").remove(four) }
                },
                Step(sql: teamReturns(1), run: restoreTeam),
            ]
        ),
        (
            "an undone restoration",
            [
                Step(sql: personGoes(1), run: deletePerson),
                Step(sql: []) { context in await fail(context) { try await restorePerson(context) } },
                Step(sql: personReturns(1), run: restorePerson),
            ]
        ),
    ]

    /// Whether rows are marked; moments are the server's.
    private static func marks(_ schema: String) -> String {
        let ends = ["company", "person", "team"].map {
            "SELECT '\($0)' || (id, deleted_at IS NULL)::text AS line FROM \(schema).\($0)"
        }
        let pairs = helpers.map {
            "SELECT '\($0)' || (person_id, team_id, note, deleted_at IS NULL)::text AS line FROM \(schema).\($0)"
        }
        let all = (ends + pairs).joined(separator: " UNION ALL ")
        return "SELECT line FROM (\(all)) AS t ORDER BY line COLLATE \"C\""
    }

    @Test(.database(.sql(schema))) func pairsComeBackWithTheirEnd() async throws {
        try await withDatabase { database, _, other in
            let tables = ["company", "person", "team"] + Self.helpers
            try await other.runScript(
                "CREATE SCHEMA twin; " + tables.map { "CREATE TABLE twin.\($0) (LIKE public.\($0));" }.joined())
            for (name, steps) in Self.stories {
                try await other.runScript(
                    Self.rows
                        + tables.map { "TRUNCATE twin.\($0); INSERT INTO twin.\($0) SELECT * FROM \($0);" }.joined())
                let context = database.makeContext()
                let (people, teams) = (
                    try await context.fetch("person").unfiltered().sorted("id").all(),
                    try await context.fetch("team").unfiltered().sorted("id").all()
                )
                var sets: [(query: String, set: ToMany<DatabaseObject>)] = []
                for helper in Self.helpers {
                    let pairs = "FROM twin.\(helper) AS h"
                    for person in people {
                        sets.append(
                            (
                                """
                                SELECT team_id \(pairs) JOIN twin.team AS t ON t.id = team_id AND t.deleted_at IS NULL
                                WHERE h.deleted_at IS NULL AND person_id = \(try person.storedID) ORDER BY 1
                                """, try await person.set(forKey: "\(helper)_teams")
                            ))
                    }
                    for team in teams {
                        sets.append(
                            (
                                """
                                SELECT person_id \(pairs) JOIN twin.person AS p ON p.id = person_id AND p.deleted_at IS NULL
                                WHERE h.deleted_at IS NULL AND team_id = \(try team.storedID) ORDER BY 1
                                """, try await team.set(forKey: "\(helper)_people")
                            ))
                    }
                }
                for (place, step) in ([Step(sql: []) { _ in }] + steps).enumerated() {
                    try await step.run(context)
                    for sql in step.sql {
                        // The copy has the same tables, in front of the others.
                        try await other.runScript("SET search_path = twin; \(sql); RESET search_path")
                    }
                    let (stored, wanted) = (
                        try await other.texts(Self.marks("public")), try await other.texts(Self.marks("twin"))
                    )
                    #expect(stored == wanted, "\(name), step \(place)")
                    for (query, set) in sets {
                        let members = try await other.integers(query)
                        #expect(try await set.ids == members, "\(name), step \(place): \(query)")
                        #expect(try await set.count == members.count, "\(name), step \(place): \(query)")
                    }
                }
            }
        }
    }

    @Test(.database(.sql(schema))) func insertingAMarkedPairOfAMarkedEndBringsBackThePairAlone() async throws {
        try await withDatabase { database, context, other in
            try await other.runScript(Self.rows)
            let person = try await context.get("person", 3)
            let gone = try await context.any("team", 3)
            for helper in Self.helpers {
                let teams = try await person.set(forKey: "\(helper)_teams")
                let four = try await context.get("team", 4)
                try await teams.formUnion([four, gone])
                // The pair is stored; its member is hidden still.
                #expect(try await teams.ids == [1, 4], "\(helper)")
                #expect(
                    try await other.texts(
                        "SELECT team_id || note FROM \(helper) WHERE person_id = 3 AND deleted_at IS NULL ORDER BY 1")
                        == ["1g", "3new", "4h"], "\(helper)")
            }
            #expect(try await other.integers("SELECT count(*) FROM team WHERE deleted_at IS NOT NULL") == [1])
        }
    }
}
