import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private let schema = """
    CREATE TABLE team (id integer PRIMARY KEY, name text);
    CREATE TABLE player (id integer PRIMARY KEY, name text, goals integer NOT NULL DEFAULT 0, team_id integer REFERENCES team);
    CREATE TABLE visitor (id integer PRIMARY KEY);
    INSERT INTO team VALUES (1, 'red'), (2, 'blue');
    INSERT INTO player VALUES (1, 'Ada', 3, 1), (2, 'Bob', 0, 1), (3, 'Cay', 5, 2);
    CREATE VIEW scorer AS SELECT id, name, goals, team_id FROM player WHERE goals > 0;
    CREATE VIEW standing AS SELECT t.id, t.name, coalesce(sum(p.goals), 0)::integer AS goals
        FROM team AS t LEFT JOIN player AS p ON p.team_id = t.id GROUP BY t.id;
    COMMENT ON VIEW standing IS '@kindred {"key": ["id"]}';
    CREATE VIEW keyless AS SELECT count(*)::integer AS players FROM player;
    CREATE MATERIALIZED VIEW stored AS SELECT id, name FROM player;
    CREATE UNIQUE INDEX ON stored (id);
    """

/// A context that tracks changes and has loaded views.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct FollowedViewTests {
    @Test func rowsOfAViewAreReadAgainWhereATableBehindItHasChanged() async throws {
        try await withLive("player", "team") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let standings = try await context.fetch("standing").sorted("id").all()
            let scorers = try await context.fetch("scorer").sorted("id").all()
            #expect(standings.map { $0["goals"] } == [3, 5] && scorers.map { $0["id"] } == [1, 3])
            try await other.query("UPDATE player SET goals = 4, name = 'Eve' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(standings.map { $0["goals"] } == [4, 5])
            #expect(scorers[0]["name"] == "Eve" && scorers[0]["goals"] == 4)
            // A row leaves the view.
            try await other.query("UPDATE player SET goals = 0 WHERE id = 3")
            try await database.tracking.catchUp()
            #expect(standings.map { $0["goals"] } == [4, 0] && scorers[1].isDeleted)
            try await other.query("UPDATE team SET name = 'green' WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(standings[1]["name"] == "green")
            // Nothing is asked where nothing behind a view has changed.
            let statements = database.tracking.metrics.statements
            try await database.tracking.enable("visitor")
            try await other.query("INSERT INTO visitor VALUES (1)")
            try await database.tracking.catchUp()
            #expect(database.tracking.metrics.statements == statements)
        }
    }

    @Test func theTablesBehindAViewMayChange() async throws {
        try await withLive("player", "team") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let standing = try #require(try await context.find("standing", 1))
            try await other.query(
                """
                CREATE OR REPLACE VIEW standing AS SELECT t.id, t.name, 7 AS goals FROM team AS t
                """)
            try await database.tracking.catchUp()
            try await eventually("the new view is read") { standing["goals"] == 7 }
            try await other.query("UPDATE team SET name = 'green' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(standing["name"] == "green")
            // A table whose changes are not recorded.
            try await other.query(
                """
                CREATE OR REPLACE VIEW standing AS
                    SELECT t.id, t.name, (SELECT count(*)::integer FROM visitor) AS goals FROM team AS t
                """)
            try await eventually("the context says that it does not see changes of the view") {
                do {
                    _ = try await context.fetch("standing").all()
                    return false
                } catch let error as KindredError {
                    return error.code == .trackingNotEnabled && error.message.contains("public.visitor")
                }
            }
        }
    }

    @Test func whatCannotBeFollowedIsRefusedByName() async throws {
        try await withLive("player") { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            _ = try await context.fetch("scorer").all()
            let untracked = await expectError(.trackingNotEnabled) { _ = try await context.fetch("standing").all() }
            #expect(untracked?.message.contains("public.team") == true)
            let keyless = await expectError(.untrackable) { _ = try await context.fetch("keyless").all() }
            #expect(keyless?.message.contains("key") == true)
            let stored = await expectError(.invalidRequest) { _ = try await context.fetch("stored").all() }
            #expect(stored?.message.contains("materialized view") == true)
            _ = other
        }
    }
}
