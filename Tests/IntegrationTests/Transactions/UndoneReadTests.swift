import Kindred
import KindredTesting
import Testing

/// The values of objects after a failed transaction, and the reads of stale objects.
@Suite struct UndoneReadTests {
    private struct Failure: Error, Equatable {}

    /// Runs `body` in a transaction that fails, and expects that nothing is sent once it is rolled back.
    private func fail(_ context: DatabaseContext, _ body: () async throws -> Void) async throws {
        let (_, recorder) = await recordingStatements {
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await body()
                    throw Failure()
                }
            }
        }
        #expect(recorder.all.last?.sql == "ROLLBACK", "\(recorder.all.map(\.sql))")
    }

    @Test(.database(.sql(referenceSchema))) func whatWasReadBeforeTheFirstWriteStays() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            var people: [DatabaseObject] = []
            var emails: [DatabaseObject] = []
            try await other.query("UPDATE person SET firstname = 'Read' WHERE id = 1")
            try await fail(context) {
                people = try await context.fetch("person").sorted("id").all()
                emails = try await people[1].set(forKey: "emailSet").objects
                _ = try await people[1].set(forKey: "titles").count
                #expect(ann === people[0] && ann["firstname"] == "Read")
                try await ann.setValue("Undone", forKey: "surname")
            }
            try await expectStatements([]) { () async throws in
                #expect(ann["firstname"] == "Read" && ann["surname"] == "Smith")
                #expect(try await people[2].value(forKey: "surname") != nil)
                #expect(try await people[1].set(forKey: "emailSet").objects == emails)
                #expect(try await people[1].set(forKey: "titles").count == 2)
                #expect(try await emails[0].object(forKey: "person") === people[1])
                #expect(try await context.find("person", 2) === people[1])
            }
        }
    }

    /// Two known people, one of them read before the transaction, and a person that was never read, as a new context
    /// shows them afterwards.
    private struct Undone {
        let context: DatabaseContext
        var people: [DatabaseObject] = []
        var never: DatabaseObject { people[3] }
    }

    private func undone(_ database: Database) async throws -> Undone {
        var undone = Undone(context: database.makeContext())
        let ann = try #require(try await undone.context.find("person", 1))
        let name = ann["surname"]
        try await fail(undone.context) {
            try await undone.context.query("UPDATE person SET surname = 'Undone', firstname = 'Undone'")
            try await undone.context.query("UPDATE email SET person_id = 3")
            try await undone.context.query("INSERT INTO person (id, surname) VALUES (77, 'Never')")
            undone.people = try await undone.context.fetch("person").sorted("id").all()
            _ = try await undone.people[2].set(forKey: "emailSet").objects
        }
        // A known row goes back, another shows its last values.
        #expect(ann === undone.people[0] && ann["surname"] == name)
        #expect(undone.people[1]["surname"] == "Undone" && undone.never["surname"] == "Never")
        #expect(!undone.never.isDeleted)
        return undone
    }

    /// Each by one statement, for all of them; nothing after that.
    @Test(.database(.sql(referenceSchema)))
    func rowsReadAfterAWriteAreReadAgainBeforeTheyAreUsed() async throws {
        try await withDatabase { database, _, other in
            var undone = try await self.undone(database)
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await undone.people[1].value(forKey: "surname")?.attribute == "Jones")
                #expect(undone.people[2]["surname"] == "Marx" && undone.never.isDeleted)
            }
            undone = try await self.undone(database)
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(try await undone.people[1].set(forKey: "emailSet").objects.map { $0["id"] } == [3])
                #expect(undone.people[1]["surname"] == "Jones")
            }
            undone = try await self.undone(database)
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(try await undone.people[2].set(forKey: "emailSet").isEmpty)
            }
            undone = try await self.undone(database)
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                #expect(try await undone.context.find("person", 77) == nil)
                #expect(undone.never.isDeleted)
                #expect(try await undone.context.find("person", [2, 3]).map { $0["surname"] } == ["Jones", "Marx"])
            }
            undone = try await self.undone(database)
            try await expectStatements(["SELECT", "UPDATE"]) { () async throws in
                try await undone.people[1].setValue("Set", forKey: "surname")
                #expect(undone.people[1]["firstname"] == "Bob")
            }
            undone = try await self.undone(database)
            await expectError(.objectDeleted) { try await undone.never.setValue("Set", forKey: "surname") }
            undone = try await self.undone(database)
            await expectError(.objectDeleted) { _ = try await undone.never.set(forKey: "emailSet").objects }
            undone = try await self.undone(database)
            await expectError(.objectDeleted) { try await undone.context.delete(undone.never) }
            undone = try await self.undone(database)
            undone.never["surname"] = "Staged"
            await expectError(.objectDeleted) { try await undone.context.save() }
            #expect(undone.never.isDeleted && !undone.context.hasStagedChanges)
            #expect(try await other.values("SELECT surname FROM person ORDER BY id") == ["Smith", "Set", "Marx"])
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func anUndoneValueThatIsStagedIsWritten() async throws {
        try await withDatabase { database, context, other in
            var people: [DatabaseObject] = []
            try await fail(context) {
                try await context.query("UPDATE person SET surname = 'Undone'")
                people = try await context.fetch("person").sorted("id").all()
            }
            people[0]["surname"] = "Undone"
            people[1]["surname"] = try await other.value("SELECT surname FROM person WHERE id = 2")
            people[2]["firstname"] = "New"
            try await context.save()
            #expect(!context.hasStagedChanges)
            let stored = try await other.query("SELECT surname, firstname FROM person ORDER BY id")
            #expect(try stored[0][0] == "Undone" && stored[1][0] != "Undone" && stored[2][1] == "New")
            for (person, row) in zip(people, stored) { #expect(try person["surname"] == row[0]) }
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func anUndoneMemberLeavesTheOwnerThatItHas() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            for person in people { _ = try await person.set(forKey: "emailSet").count }
            let before = try await people[0].set(forKey: "emailSet").objects.count
            var emails: [DatabaseObject] = []
            try await fail(context) {
                try await context.query("UPDATE email SET person_id = 3")
                emails = try await context.fetch("email").sorted("id").all()
                try await emails[0].setValue("inside", forKey: "address")
            }
            #expect(try await people[0].set(forKey: "emailSet").count == before)
            try await people[1].set(forKey: "emailSet").insert(emails[0])
            for person in people {
                let ids = try await other.values(
                    "SELECT id FROM email WHERE person_id = \(person["id"] ?? 0) ORDER BY id")
                #expect(
                    try await person.set(forKey: "emailSet").objects.map { $0["id"] }.sorted {
                        "\($0 ?? 0)" < "\($1 ?? 0)"
                    }
                        == ids)
            }
        }
    }

    /// Raw SQL may write by a function, which its text does not tell; statements of settings do not.
    @Test(
        .database(
            .sql(
                referenceSchema + """
                    CREATE FUNCTION rename() RETURNS integer LANGUAGE sql AS
                        $$UPDATE person SET surname = 'Undone'; SELECT 1$$;
                    """)), arguments: ["SELECT rename()", "SET LOCAL work_mem = '1MB'"], [false, true])
    func rawSQLCountsAsWriting(text: String, isStream: Bool) async throws {
        try await withDatabase { database, context, other in
            var ann: DatabaseObject?
            try await fail(context) {
                if isStream, text.hasPrefix("SELECT") {
                    for try await _ in try database.client.stream(SQL(unsafeRaw: text)) {}
                } else {
                    try await database.query(SQL(unsafeRaw: text))
                }
                ann = try await context.find("person", 1)
            }
            let isRead = text.hasPrefix("SELECT")
            try await expectStatements(isRead ? ["SELECT"] : []) { () async throws in
                #expect(try await ann?.value(forKey: "surname")?.attribute == "Smith")
            }
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func aSavepointTakesBackWhatWasReadAfterItsOwnWrites() async throws {
        try await withDatabase { database, context, other in
            var (early, late): (DatabaseObject?, DatabaseObject?)
            try await fail(context) {
                try await context.query("UPDATE person SET surname = 'Outer'")
                let (_, recorder) = await recordingStatements {
                    await #expect(throws: Failure.self) {
                        try await context.transaction {
                            // The row is the outer transaction's, and stays as long as that goes on.
                            early = try await context.find("person", 1)
                            try await context.query("UPDATE person SET surname = 'Inner'")
                            late = try await context.find("person", 2)
                            throw Failure()
                        }
                    }
                }
                #expect(recorder.all.last?.sql.hasPrefix("RELEASE SAVEPOINT") == true, "\(recorder.all.map(\.sql))")
                #expect(early?["surname"] == "Outer" && late?["surname"] == "Inner")
                try await expectStatements([]) { () async throws in
                    #expect(try await early?.value(forKey: "surname")?.attribute == "Outer")
                }
                try await expectStatements(["SELECT"]) { () async throws in
                    #expect(try await late?.value(forKey: "surname")?.attribute == "Outer")
                }
            }
            #expect(early?["surname"] == "Outer")
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await early?.value(forKey: "surname")?.attribute == "Smith")
            }
            #expect(try await late?["surname"] == other.value("SELECT surname FROM person WHERE id = 2"))
        }
    }

    @Test(.database(.sql(referenceSchema))) func eachAttemptBeginsWithWhatWasKnown() async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            var seen: [PostgresValue?] = []
            var bob: DatabaseObject?
            try await context.transaction(retry: .attempts(3)) {
                seen.append(ann["firstname"])
                try await ann.setValue("Attempt \(seen.count)", forKey: "firstname")
                try await context.query("UPDATE person SET surname = 'Attempt' WHERE id = 2")
                bob = try await context.find("person", 2)
                #expect(bob?["surname"] == "Attempt")
                guard seen.count == 3 else {
                    try await context.query("DO $$BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END$$")
                    return
                }
            }
            #expect(seen == ["Ann", "Ann", "Ann"] && ann["firstname"] == "Attempt 3")
            #expect(try await bob?["surname"] == other.value("SELECT surname FROM person WHERE id = 2"))
        }
    }

    private static let viewed =
        referenceSchema + """
            CREATE VIEW person_name AS SELECT DISTINCT id, upper(surname) AS name FROM person;
            COMMENT ON VIEW person_name IS '@kindred {"key": "id"}';
            """

    @Test(.database(.sql(viewed))) func aRowOfAViewThatCannotBeWrittenIsReadAgainToo() async throws {
        try await withDatabase { database, context, other in
            var name: DatabaseObject?
            try await fail(context) {
                try await context.query("UPDATE person SET surname = 'Undone'")
                name = try await context.fetch("person_name").where("id = 1").one()
                #expect(name?["name"] == "UNDONE")
            }
            #expect(try await name?.value(forKey: "name")?.attribute == "SMITH")
        }
    }

    private static let secured = """
        CREATE TABLE item (id integer PRIMARY KEY, owner text NOT NULL, name text);
        ALTER TABLE item ENABLE ROW LEVEL SECURITY;
        ALTER TABLE item FORCE ROW LEVEL SECURITY;
        CREATE POLICY own ON item USING (owner = current_setting('app.owner', true));
        INSERT INTO item SELECT i, 'ann', 'old' FROM generate_series(1, 2) AS i;
        """

    @Test("A row that only a setting of the transaction shows is not taken for deleted", .database(.sql(secured)))
    func settings() async throws {
        let role = "undone_\(UInt32.random(in: 0..<UInt32.max))"
        try await withDatabase { _, _, admin in
            try await admin.query("CREATE ROLE \(identifier: role) LOGIN")
            try await admin.query("GRANT ALL ON item TO \(identifier: role)")
            var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
            configuration.user = role
            configuration.pool.acquireTimeout = .seconds(60)
            let database = try await Database.connect(configuration)
            for isSelect in [false, true] {
                let context = database.makeContext()
                var items: [DatabaseObject] = []
                try await fail(context) {
                    if isSelect {
                        try await context.query("SELECT set_config('app.owner', 'ann', true)")
                    } else {
                        try await context.query("SET LOCAL app.owner = 'ann'")
                    }
                    items = try await context.fetch("item").sorted("id").all()
                    try await items[0].setValue("undone", forKey: "name")
                }
                #expect(items.count == 2 && items.allSatisfy { !$0.isDeleted && $0["name"] == "old" })
                try await context.transaction {
                    try await context.query("SET LOCAL app.owner = 'ann'")
                    #expect(try await items[0].value(forKey: "name")?.attribute == "old")
                    #expect(try await items[1].value(forKey: "name")?.attribute == "old")
                }
            }
            await database.close()
            try await admin.query("DROP OWNED BY \(identifier: role)")
            try await eventually("the role is unused") {
                (try? await admin.query("DROP ROLE \(identifier: role)")) != nil
            }
        }
    }

    /// How long the caller waits, with a network that is dark from some point on.
    enum Dark: CaseIterable {
        case cancelled, timedOut, commit
    }

    @Test(
        "A dark network does not keep the caller waiting for rows", .database(.sql(referenceSchema)),
        arguments: Dark.allCases)
    func dark(_ kind: Dark) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.statementCacheCapacity = 0
        configuration.pool.acquireTimeout = .seconds(60)
        configuration.statementTimeout = .seconds(kind == .commit ? 1 : 60)
        configuration.cancellationGrace = .milliseconds(100)
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        let ann = try #require(try await context.find("person", 1))
        let clock = ContinuousClock()
        let (isReady, ready) = AsyncStream.makeStream(of: DatabaseObject.self)
        let (_, recorder) = await recordingStatements {
            let task = Task {
                defer { ready.finish() }
                try await context.transaction {
                    try await ann.setValue("Undone", forKey: "surname")
                    let bob = try #require(try await context.find("person", 2))
                    ready.yield(bob)
                    switch kind {
                    case .commit:
                        proxy.set { direction, bytes in
                            direction == .toClient && contains(bytes, "COMMIT") ? .drop : .forward
                        }
                    case .cancelled, .timedOut:
                        proxy.set { _, _ in .drop }
                        try await database.client.query(
                            "SELECT pg_sleep(0)", timeout: kind == .timedOut ? .milliseconds(500) : nil)
                    }
                }
            }
            var iterator = isReady.makeAsyncIterator()
            // Held, so that there is a row to read again.
            let bob = await iterator.next()
            let began = clock.now
            if kind == .cancelled {
                try? await Task.sleep(for: .milliseconds(100))
                task.cancel()
            }
            _ = await task.result
            let time = began.duration(to: clock.now)
            // Another statement would take its own limit: a minute.
            #expect(time < .seconds(30), "\(time)")
            #expect(bob?["surname"] != nil && bob?.isDeleted == false && ann["surname"] == "Smith")
        }
        let last = recorder.all.last?.sql
        #expect(last == (kind == .commit ? "COMMIT" : "ROLLBACK") || last == "SELECT pg_sleep(0)", "\(last ?? "")")
        proxy.set { _, _ in .forward }
        // The row was committed where the answer alone was lost; it is read when it is needed.
        #expect(ann["surname"] == "Smith")
        #expect(try await ann.value(forKey: "surname")?.attribute == (kind == .commit ? "Undone" : "Smith"))
        await database.close()
    }
}
