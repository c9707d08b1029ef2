import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE team (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE note (
        id integer PRIMARY KEY, team_id integer NOT NULL REFERENCES team, hidden boolean NOT NULL DEFAULT false,
        text text);
    ALTER TABLE note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY shown ON note USING (NOT hidden);
    GRANT SELECT ON team, note TO PUBLIC;
    INSERT INTO team VALUES (1, 'red'), (2, 'blue');
    INSERT INTO note (id, team_id, text) VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
    """

/// Contexts of a role that sees some rows only: what a policy hides is gone for it, and says nothing.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct PolicyTrackingTests {
    /// Lends a context that tracks, of a role to which policies apply, and the database that it is of.
    private func withLimitedRole(
        _ body: (_ theirs: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withLive("team", "note") { database, _, other in
            let role = "kindred_limited_\(UInt32.random(in: 0..<UInt32.max))"
            try await other.query("CREATE ROLE \(identifier: role) LOGIN")
            try await database.tracking.install(readers: [role])
            var configuration = other.configuration
            configuration.user = role
            let theirs = try await Database.connect(configuration)
            let result: Result<Void, any Error>
            do {
                try await body(theirs, theirs.makeContext(tracking: .automatic), other)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await theirs.close(timeout: .zero)
            try await other.query("DROP OWNED BY \(identifier: role)")
            try await other.query("DROP ROLE \(identifier: role)")
            try result.get()
        }
    }

    @Test func aRowThatBecomesHiddenIsGone() async throws {
        try await withLimitedRole { theirs, context, other in
            let notes = try await context.fetch("note").sorted("id").all()
            #expect(notes.map { $0["text"] } == ["a", "b", "c"])
            let red = try #require(try await context.find("team", 1))
            let blue = try #require(try await context.find("team", 2))
            _ = try await red.set(forKey: "noteSet").objects
            #expect(try await blue.set(forKey: "noteSet").count == 1)
            try await other.query("UPDATE note SET hidden = true WHERE id IN (1, 3)")
            try await theirs.tracking.catchUp()
            #expect(notes.map(\.isDeleted) == [true, false, true])
            #expect(try await red.membersInMemory("noteSet") == [2])
            #expect(try await blue.countInMemory("noteSet") == 0)
            // Changes of a hidden row are not seen; changes of other rows are.
            try await other.query("UPDATE note SET text = 'secret', team_id = 2 WHERE id = 1")
            try await other.query("UPDATE note SET text = 'B' WHERE id = 2")
            try await theirs.tracking.catchUp()
            #expect(notes[0].isDeleted && notes[1]["text"] == "B")
            #expect(try await red.membersInMemory("noteSet") == [2])
            #expect(try await blue.countInMemory("noteSet") == 0)
            // A row that is shown again is a new object.
            try await other.query("UPDATE note SET hidden = false, team_id = 1 WHERE id = 1")
            try await theirs.tracking.catchUp()
            #expect(notes[0].isDeleted)
            #expect(try await red.membersInMemory("noteSet") == [1, 2])
            let shown = try await withStatementLimit(0) { try await red.set(forKey: "noteSet").objects }
            #expect(shown.first { $0.number == 1 }?["text"] == "secret")
            // Keys are hidden from this role: its contexts were told that rows had changed, not which.
            #expect(Array(theirs.tracking.metrics.gaps.keys) == [Tracking.Gap.unnamed.rawValue])
        }
    }

    @Test func aPolicyThatIsNewHidesRowsFromWhatFollowsAlready() async throws {
        try await withLimitedRole { theirs, context, other in
            let teams = try await context.fetch("team").sorted("id").all()
            try await other.withTransaction { _ in
                try await other.query("ALTER TABLE team ENABLE ROW LEVEL SECURITY")
                try await other.query("CREATE POLICY red ON team USING (name <> 'blue')")
                try await other.query("UPDATE team SET name = name")
                try await other.query("UPDATE team SET name = 'Red' WHERE id = 1")
            }
            try await theirs.tracking.catchUp()
            #expect(teams[0]["name"] == "Red" && !teams[0].isDeleted)
            #expect(teams[1].isDeleted)
        }
    }
}
