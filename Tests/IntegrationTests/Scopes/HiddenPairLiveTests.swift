import Kindred
import KindredLive
import KindredTesting
import Testing

/// Live requests over many-to-many relationships follow the rows of the helper that are shown.
@Suite(.database(.sql(ScopeWorld.schema)), .timeLimit(.minutes(10))) struct HiddenPairLiveTests {
    /// A live request, what its objects say, and the query that says the same.
    private struct Question: Sendable {
        let name: String
        let sql: @Sendable (HiddenPair) -> String
        let request: @Sendable (DatabaseContext, HiddenPair) async throws -> FetchRequest<DatabaseObject>
        var answer: @Sendable (LiveUpdate<DatabaseObject>, HiddenPair) async throws -> [Int64] = { update, _ in
            update.integers().compactMap(\.self)
        }
    }

    /// The teams of the objects, one object after the other.
    private static let teams: @Sendable (LiveUpdate<DatabaseObject>, HiddenPair) async throws -> [Int64] = {
        update, kind in
        var found: [Int64] = []
        for object in update.objects { found += try await object.set(forKey: kind.teams).ids }
        return found
    }

    private static let questions: [Question] = [
        Question(
            name: "prefetch", sql: { "SELECT team_id FROM \($0.pairs) ORDER BY person_id, team_id" },
            request: { try $0.fetch($1.person).sorted("id").prefetch($1.teams) }, answer: teams),
        Question(
            name: "ANY", sql: { "SELECT DISTINCT person_id FROM \($0.pairs) WHERE team_id IN (2, 4) ORDER BY 1" },
            request: { try $0.fetch($1.person).where("ANY \($1.teams).id IN {2, 4}").sorted("id") }),
        Question(
            name: "NONE",
            sql: {
                """
                SELECT i FROM generate_series(1, 2) AS i
                WHERE NOT EXISTS (SELECT FROM \($0.pairs) WHERE person_id = i AND team_id = 3) ORDER BY 1
                """
            },
            request: { try $0.fetch($1.person).where("NONE \($1.teams).id = 3").sorted("id") }),
        Question(
            name: "@count",
            sql: {
                """
                SELECT i FROM generate_series(1, 2) AS i
                WHERE (SELECT count(*) FROM \($0.pairs) WHERE person_id = i) = 2 ORDER BY 1
                """
            },
            request: { try $0.fetch($1.person).where("\($1.teams).@count = 2").sorted("id") }),
        Question(
            name: "order by @count",
            sql: {
                """
                SELECT i FROM generate_series(1, 4) AS i
                ORDER BY (SELECT count(*) FROM \($0.pairs) WHERE team_id = i) DESC, i
                """
            },
            request: { try $0.fetch($1.team).sorted("\($1.people).@count", ascending: false).sorted("id") }),
        Question(
            name: "members of a set", sql: { "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 ORDER BY 1" },
            request: { try await $0.get($1.person, 1).set(forKey: $1.teams).request().sorted("id") }),
        Question(
            name: "some members of a set",
            sql: { "SELECT team_id FROM \($0.pairs) WHERE person_id = 1 AND team_id > 1 ORDER BY 1 LIMIT 2" },
            request: { try await $0.get($1.person, 1).set(forKey: $1.teams).where("id > 1").sorted("id").limit(2) }),
        Question(
            name: "rows of the helper",
            sql: { "SELECT person_id * 10 + team_id FROM \($0.pairs) ORDER BY 1" },
            request: { try $0.fetch($1.member).sorted("person_id").sorted("team_id") },
            answer: { update, _ in
                zip(update.integers("person_id"), update.integers("team_id")).map { ($0 ?? 0) * 10 + ($1 ?? 0) }
            }),
    ]

    /// The changes that another program makes to the rows of a helper, one after the other.
    private static func steps(_ kind: HiddenPair) -> [String] {
        let table = kind.member
        // A hidden pair is shown, a shown one hidden, a row changes whose pair stays hidden.
        let own: [String] =
            switch kind {
            case .marked:
                [
                    "UPDATE marked_member SET deleted_at = NULL WHERE person_id = 1 AND team_id = 2",
                    "UPDATE marked_member SET deleted_at = now() WHERE person_id = 1 AND team_id = 3",
                    "UPDATE marked_member SET note = 'other' WHERE person_id = 2 AND team_id = 3",
                    "UPDATE marked_member SET deleted_at = CASE WHEN deleted_at IS NULL THEN now() END",
                    "INSERT INTO marked_member VALUES (2, 4, 'x', now())",
                ]
            case .filtered:
                [
                    "UPDATE filtered_member SET hidden = false WHERE person_id = 1 AND team_id = 2",
                    "UPDATE filtered_member SET hidden = true WHERE person_id = 1 AND team_id = 3",
                    "UPDATE filtered_member SET team_id = 4 WHERE person_id = 2 AND team_id = 3",
                    "UPDATE filtered_member SET hidden = NOT hidden",
                    "INSERT INTO filtered_member VALUES (1, 4, true)",
                ]
            case .foreign:
                [
                    "UPDATE foreign_member SET tenant_id = 1 WHERE person_id = 1 AND team_id = 2",
                    "UPDATE foreign_member SET tenant_id = 2 WHERE person_id = 1 AND team_id = 3",
                    "UPDATE foreign_member SET team_id = 4 WHERE person_id = 2 AND team_id = 3",
                    "UPDATE foreign_member SET tenant_id = 3 - tenant_id",
                    "INSERT INTO foreign_member VALUES (1, 4, 2)",
                ]
            case .inherited: []
            }
        return own + [
            kind.insertion(into: table, 4) + " ON CONFLICT DO NOTHING",
            "DELETE FROM \(table) WHERE team_id = 1",
            "DELETE FROM \(table) WHERE person_id = 1",
            kind.reset,
        ]
    }

    @Test(arguments: [HiddenPair.marked, .filtered, .foreign]) func updatesShowPairsThatAreShown(
        _ kind: HiddenPair
    ) async throws {
        try await withLive(kind.person, kind.team, kind.member) { database, _, other in
            let context = try database.context(kind)
            for question in Self.questions {
                try await other.runScript(kind.reset)
                var updates = try await question.request(context, kind).live().makeAsyncIterator()
                var shown = try await question.answer(try await updates.update(), kind)
                #expect(try await shown == other.integers(question.sql(kind)), "\(question.name), at first")
                for step in Self.steps(kind) {
                    try await other.runScript(step)
                    let wanted = try await other.integers(question.sql(kind))
                    // Nothing is sent where nothing that is shown has changed.
                    while shown != wanted {
                        let update = try await updates.update()
                        let found = try await question.answer(update, kind)
                        if found == shown { continue }
                        #expect(found == wanted, "\(question.name), \(step)")
                        shown = wanted
                    }
                }
            }
        }
    }

    @Test(arguments: [HiddenPair.marked, .filtered]) func contextsThatFollowShowPairsThatAreShown(
        _ kind: HiddenPair
    ) async throws {
        try await withLive(kind.person, kind.team, kind.member) { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let people = try await context.fetch(kind.person).sorted("id").all()
            let teams = try await context.fetch(kind.team).sorted("id").all()
            var sets: [(query: String, set: ToMany<DatabaseObject>)] = []
            for (place, person) in people.enumerated() {
                sets.append(
                    (
                        "SELECT team_id FROM \(kind.pairs) WHERE person_id = \(place + 1) ORDER BY 1",
                        try await person.set(forKey: kind.teams)
                    ))
            }
            for (place, team) in teams.enumerated() {
                sets.append(
                    (
                        "SELECT person_id FROM \(kind.pairs) WHERE team_id = \(place + 1) ORDER BY 1",
                        try await team.set(forKey: kind.people)
                    ))
            }
            for (_, set) in sets { _ = (try await set.ids, try await set.count) }
            for step in Self.steps(kind) {
                try await other.runScript(step)
                for (query, set) in sets {
                    let wanted = try await other.integers(query)
                    for _ in 0..<600 where try await set.ids != wanted { try await Task.sleep(for: .milliseconds(50)) }
                    #expect(try await set.ids == wanted, "\(step), \(query)")
                    #expect(try await set.count == wanted.count, "\(step), \(query)")
                }
            }
        }
    }
}
