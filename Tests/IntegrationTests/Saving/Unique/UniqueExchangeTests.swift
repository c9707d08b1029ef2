import Kindred
import KindredTesting
import Testing

/// Objects that take each other's unique values in one save.
@Suite struct UniqueExchangeTests {
    private static let schema = """
        CREATE TABLE seat (
            id integer PRIMARY KEY, name text UNIQUE, number integer NOT NULL,
            place integer NOT NULL, UNIQUE (number) DEFERRABLE, CONSTRAINT one_place UNIQUE (place));
        INSERT INTO seat SELECT i, 'seat ' || i, i, i FROM generate_series(1, 3) AS i;
        """

    @Test(.database(.sql(schema))) func valuesThatMayBeNullAreGivenUpFirst() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (position, seat) in seats.enumerated() {
                seat["name"] = .string("seat \(position == 2 ? 1 : position + 2)")
            }
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT name FROM seat ORDER BY id") == ["seat 2", "seat 3", "seat 1"])
            // A new object may take a value that another object gives up.
            seats[0]["name"] = "another"
            try context.add("seat", ["id": 4, "name": "seat 2", "number": 4, "place": 4])
            try await context.save()
            #expect(
                try await other.values("SELECT name FROM seat WHERE id IN (1, 4) ORDER BY id") == ["another", "seat 2"])
            // Without an exchange there is nothing to give up.
            seats[0]["name"] = "free"
            try await expectStatements(["UPDATE"]) { try await context.save() }
        }
    }

    @Test(.database(.sql(schema))) func aDeferrableConstraintNeedsNoHelp() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["number"] = 2
            seats[1]["number"] = 1
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT number FROM seat ORDER BY id") == [2, 1, 3])
        }
    }

    /// Many rows may be written by two statements, between which a deferrable constraint is looked at.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE seat (id integer PRIMARY KEY, number integer NOT NULL UNIQUE DEFERRABLE);
                INSERT INTO seat SELECT i, i FROM generate_series(1, 5000) AS i;
                CREATE TABLE room (
                    id integer PRIMARY KEY, days daterange NOT NULL, note text, EXCLUDE USING gist (days WITH &&) DEFERRABLE);
                INSERT INTO room SELECT i, daterange('2000-01-01'::date + i, '2000-01-02'::date + i)
                FROM generate_series(1, 5000) AS i
                """)))
    func uniqueValuesOfManyRowsChangeHandsInOneStatement() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (position, seat) in seats.enumerated() { seat["number"] = .integer(Int64((position + 1) % 5_000 + 1)) }
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT count(*) FROM seat WHERE number = id % 5000 + 1") == [5_000])
            let rooms = try await context.fetch("room").sorted("id").all()
            let days = rooms.map { $0["days"] }
            for (position, room) in rooms.enumerated() { room["days"] = days[(position + 1) % 5_000] }
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT id FROM room ORDER BY days LIMIT 2") == [5_000, 1])
        }
    }

    /// A new row that stands before the new row it refers to needs that row in the same statement or before.
    @Test(.database(.sql("CREATE TABLE node (id integer PRIMARY KEY, parent_id integer REFERENCES node, note text)")))
    func manyNewRowsMayReferToLaterOnes() async throws {
        try await withDatabase { database, context, other in
            let nodes = try (1...5_000).map { (number: Int64) in
                let parent: Int64? = number < 5_000 ? number + 1 : nil
                return try context.add("node", ["id": number, "parent_id": parent])
            }
            try await context.save()
            #expect(try await other.values("SELECT count(*) FROM node WHERE parent_id = id + 1") == [4_999])
            for node in nodes { node["note"] = "changed" }
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
        }
    }

    @Test(.database(.sql(schema))) func requiredValuesAreRefusedWithAdvice() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["place"] = 2
            seats[1]["place"] = 1
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "one_place" && error?.message.contains("DEFERRABLE") == true)
            #expect(seats[0].hasStagedChanges && seats[1].hasStagedChanges)
            seats[1].rollback()
            let alone = await expectError(.constraintViolation) { try await context.save() }
            #expect(alone?.message.contains("DEFERRABLE") == false && alone?.object === seats[0])
        }
    }

    private static let lessons = """
        CREATE TABLE lesson (
            id integer PRIMARY KEY, room integer, hour integer, day integer NOT NULL, UNIQUE (room, hour), UNIQUE (room, day));
        INSERT INTO lesson VALUES (1, 1, 8, 1), (2, 1, 9, 2), (3, 2, 8, 1);
        """

    @Test(
        .database(.sql(lessons)),
        arguments: ["", "COMMENT ON TABLE lesson IS '@kindred {\"optimisticLocking\": \"xmin\"}'"])
    func theRestOfAnExchangedKeyKeepsItsValue(_ comment: String) async throws {
        if !comment.isEmpty {
            let client = try await PostgresClient.connect(PostgresConfiguration(uri: try TestDatabase.current.uri))
            _ = try await client.query(SQL(unsafeRaw: comment))
            await client.close()
        }
        try await withDatabase { database, context, other in
            let stored: SQL = "SELECT concat_ws(' ', room, hour, day) FROM lesson ORDER BY id"
            let lessons = try await context.fetch("lesson").sorted("id").all()
            lessons[0]["hour"] = 9
            lessons[1]["hour"] = 8
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values(stored) == ["1 9 1", "1 8 2", "2 8 1"])
            // Days may not be NULL: the rooms make way, though they stay the same.
            lessons[0]["day"] = 2
            lessons[1]["day"] = 1
            try await context.save()
            #expect(try await other.values(stored) == ["1 9 2", "1 8 1", "2 8 1"])
            // Both keys of an object go from hand to hand.
            lessons[0]["hour"] = 8
            lessons[0]["day"] = 1
            lessons[1]["hour"] = 9
            lessons[1]["day"] = 2
            try await context.save()
            #expect(try await other.values(stored) == ["1 8 1", "1 9 2", "2 8 1"])
            #expect(lessons.map { $0["room"] } == [1, 1, 2] && !context.hasStagedChanges)
        }
    }

    @Test(
        "who gives up a value and loses it stays without", .database(.sql(lessons)),
        arguments: ["", "COMMENT ON TABLE lesson IS '@kindred {\"optimisticLocking\": \"xmin\"}'"])
    func aValueThatBecomesNullStaysSo(_ comment: String) async throws {
        if !comment.isEmpty {
            let client = try await PostgresClient.connect(PostgresConfiguration(uri: try TestDatabase.current.uri))
            _ = try await client.query(SQL(unsafeRaw: comment))
            await client.close()
        }
        try await withDatabase { database, context, other in
            let lessons = try await context.fetch("lesson").sorted("id").all()
            lessons[0]["room"] = nil
            lessons[0]["hour"] = 10
            lessons[1]["hour"] = 8
            try await context.save()
            let stored = try await other.values(
                "SELECT concat_ws(' ', coalesce(room, 0), hour) FROM lesson ORDER BY id")
            #expect(stored == ["0 10", "1 8", "2 8"])
            #expect(lessons[0]["room"] == nil && !context.hasStagedChanges)
        }
    }

    @Test(.database(.sql(schema))) func aNewObjectTakesARequiredValueThatAChangeGivesUp() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["place"] = 7
            seats[0]["name"] = "moved"
            try context.add("seat", ["id": 4, "name": "seat 1", "number": 4, "place": 1])
            try await context.save()
            #expect(try await other.values("SELECT place FROM seat ORDER BY id") == [7, 2, 3, 1])
            #expect(!context.hasStagedChanges && seats[0]["name"] == "moved")
            // In a chain the last one moves first.
            seats[1]["place"] = 3
            seats[2]["place"] = 8
            try context.add("seat", ["id": 5, "name": "new", "number": 5, "place": 2])
            try await expectStatements(["UPDATE", "UPDATE", "INSERT"]) { try await context.save() }
            #expect(try await other.values("SELECT place FROM seat ORDER BY id") == [7, 3, 8, 1, 2])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE team (id integer PRIMARY KEY);
                CREATE TABLE player (
                    id integer PRIMARY KEY, team_id integer REFERENCES team, shirt integer NOT NULL, UNIQUE (team_id, shirt));
                INSERT INTO team VALUES (1);
                INSERT INTO player VALUES (1, 1, 10), (2, 1, 11);
                """)))
    func aForeignKeyMakesWayForAnExchange() async throws {
        try await withDatabase { database, context, other in
            let players = try await context.fetch("player").sorted("id").all()
            let team = try #require(try await players[0].object(forKey: "team"))
            players[0]["shirt"] = 11
            players[1]["shirt"] = 10
            try await context.save()
            #expect(try await other.values("SELECT shirt FROM player WHERE team_id = 1 ORDER BY id") == [11, 10])
            #expect(try await Set(team.set(forKey: "playerSet").objects) == Set(players))
        }
    }
}
