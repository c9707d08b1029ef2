import KindredSchema
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

private typealias World = FollowedWorld

/// `makeContext(tracking: .automatic)`.
@Suite(.database(.sql(FollowedWorld.schema)), .timeLimit(.minutes(5))) struct ContextTrackingTests {
    private func seed(_ other: PostgresClient) async throws {
        for sql: SQL in [
            "INSERT INTO region VALUES (1, 'north'), (2, 'south'), (3, 'west')",
            "INSERT INTO person VALUES (1, 'Ada', NULL, 1), (2, 'Bob', NULL, 1), (3, 'Cay', NULL, NULL)",
            "INSERT INTO passport VALUES (1, 1)",
            "INSERT INTO email VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)",
            "INSERT INTO tag VALUES (1, 'x'), (2, 'y'), (3, 'z')",
            "INSERT INTO person_tag VALUES (1, 1), (2, 1), (2, 2)",
            "INSERT INTO course VALUES (1, 'p'), (2, 'q')",
            "INSERT INTO enrolment VALUES (1, NULL, 1, 1), (2, NULL, 2, 1)",
            "INSERT INTO book VALUES (1, 'B'), (2, 'C')",
            "INSERT INTO chapter VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 1, 2)",
            "INSERT INTO playlist VALUES (1, 'P')",
            "INSERT INTO track VALUES (1, 's'), (2, 't'), (3, 'u')",
            "INSERT INTO playlist_track VALUES (1, 1, 1), (1, 2, 2)",
        ] {
            try await other.query(sql)
        }
    }

    @Test func attributesFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let ada = try #require(try await context.find("person", 1))
            try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Eve"))
            #expect(!ada.hasStagedChanges)
        }
    }

    @Test func setsOfRowsWithoutObjectsFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let (ada, bob) = (
                try #require(try await context.find("person", 1)), try #require(try await context.find("person", 2))
            )
            _ = try await ada.set(forKey: "emailSet").objects
            _ = try await bob.set(forKey: "emailSet").objects
            // One moves, one comes, one goes, one is changed.
            try await other.query("UPDATE email SET person_id = 2 WHERE id = 1")
            try await other.query("INSERT INTO email VALUES (4, 'd', 1)")
            try await other.query("DELETE FROM email WHERE id = 2")
            try await other.query("UPDATE email SET address = 'cc' WHERE id = 3")
            try await database.tracking.catchUp()
            #expect(try await ada.membersInMemory("emailSet") == [4])
            #expect(try await bob.membersInMemory("emailSet") == [1, 3])
            let emails = try await withStatementLimit(0) { try await bob.set(forKey: "emailSet").objects }
            #expect(emails.first { $0.number == 3 }?["address"] == .string("cc"))
            #expect(try await ada.countInMemory("emailSet") == 1)
        }
    }

    @Test func countsFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let people = try await context.find("person", [1, 2, 3])
            for person in people {
                _ = try await person.set(forKey: "emailSet").count
                _ = try await person.set(forKey: "tags").count
            }
            try await other.query("UPDATE email SET person_id = 3 WHERE id = 1")
            try await other.query("DELETE FROM email WHERE id = 3")
            try await other.query("INSERT INTO person_tag VALUES (3, 3), (1, 2)")
            try await database.tracking.catchUp()
            for (person, counts) in zip(people, [(1, 2), (0, 2), (1, 1)]) {
                #expect(try await person.countInMemory("emailSet") == counts.0)
                #expect(try await person.countInMemory("tags") == counts.1)
            }
        }
    }

    @Test func toOneEndsFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let people = try await context.find("person", [1, 2, 3])
            for person in people {
                _ = try await person.object(forKey: "region")
                _ = try await person.object(forKey: "passport")
            }
            try await other.query("UPDATE person SET region_id = 2 WHERE id = 1")
            try await other.query("UPDATE person SET region_id = NULL WHERE id = 2")
            try await other.query("UPDATE person SET region_id = 3 WHERE id = 3")
            try await other.query("UPDATE passport SET person_id = 2 WHERE id = 1")
            try await other.query("UPDATE region SET name = 'far south' WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(try await people[0].oneInMemory("region") == 2)
            #expect(try await people[1].oneInMemory("region") == nil)
            #expect(try await people[2].oneInMemory("region") == 3)
            #expect(try await people[0].oneInMemory("passport") == nil)
            #expect(try await people[1].oneInMemory("passport") == 1)
            let south = try await withStatementLimit(0) { try await people[0].object(forKey: "region") }
            #expect(south?["name"] == .string("far south"))
            // Again, with rows that are in memory.
            try await other.query("UPDATE region SET id = 7 WHERE id = 1")
            try await other.query("UPDATE person SET region_id = 7 WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(try await people[0].oneInMemory("region") == 7)
        }
    }

    /// People whose regions are loaded: the second's region came with the answer for the first.
    private func peopleOfRegions(_ context: DatabaseContext, _ other: PostgresClient) async throws -> [DatabaseObject] {
        try await seed(other)
        let people = try await context.find("person", [1, 2, 3])
        for person in people { _ = try await person.object(forKey: "region") }
        return people
    }

    /// Adds more rows than changes name: loaded rows of the table are read again.
    private func addManyRegions(_ database: Database, _ other: PostgresClient) async throws {
        try await other.query("INSERT INTO region SELECT i, 'r' FROM generate_series(100, 1200) AS i")
        try await database.tracking.catchUp()
    }

    @Test func toOneEndsThatAGroupHasLoadedFollow() async throws {
        try await World.run { database, context, other in
            let people = try await peopleOfRegions(context, other)
            try await addManyRegions(database, other)
            #expect(try await people[0].oneInMemory("region") == 1)
            #expect(try await people[1].oneInMemory("region") == 1)
            #expect(try await people[2].oneInMemory("region") == nil)
        }
    }

    @Test func toOneEndsFollowThatGoAndComeBack() async throws {
        try await World.run { database, context, other in
            let people = try await peopleOfRegions(context, other)
            // The regions' rows are in memory without objects, and their foreign keys become NULL.
            try await other.query("DELETE FROM region WHERE id IN (1, 3)")
            try await database.tracking.catchUp()
            #expect(try await people[0].oneInMemory("region") == nil)
            // While nothing refers to it.
            try await addManyRegions(database, other)
            // As before for one, and to another row for the other.
            try await other.query("INSERT INTO region VALUES (1, 'new north'), (3, 'new west')")
            try await other.query("UPDATE person SET region_id = 1 WHERE id = 1")
            try await other.query("UPDATE person SET region_id = 3 WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(try await people[0].oneInMemory("region") == 1)
            #expect(try await people[1].oneInMemory("region") == 3)
        }
    }

    @Test func pairsFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let people = try await context.find("person", [1, 2, 3])
            let courses = try await context.find("course", [1, 2])
            let tag = try #require(try await context.find("tag", 1))
            for person in people { _ = try await person.set(forKey: "tags").objects }
            for course in courses { _ = try await course.set(forKey: "personSet").objects }
            _ = try await tag.set(forKey: "people").objects
            try await other.query("INSERT INTO person_tag VALUES (3, 1), (1, 3)")
            try await other.query("DELETE FROM person_tag WHERE person_id = 2 AND tag_id = 1")
            // A helper whose key names no pair.
            try await other.query("UPDATE enrolment SET course_id = 2 WHERE id = 1")
            try await other.query("INSERT INTO enrolment VALUES (3, NULL, 3, 1)")
            try await other.query("DELETE FROM enrolment WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(try await people[0].membersInMemory("tags") == [1, 3])
            #expect(try await people[1].membersInMemory("tags") == [2])
            #expect(try await people[2].membersInMemory("tags") == [1])
            #expect(try await tag.membersInMemory("people") == [1, 3])
            #expect(try await courses[0].membersInMemory("personSet") == [3])
            #expect(try await courses[1].membersInMemory("personSet") == [1])
        }
    }

    @Test func ordersFollow() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let book = try #require(try await context.find("book", 1))
            let list = try #require(try await context.find("playlist", 1))
            _ = try await book.set(forKey: "chapters").objects
            _ = try await list.set(forKey: "tracks").objects
            try await other.query("UPDATE chapter SET position = 9 WHERE id = 1")
            try await other.query("UPDATE chapter SET book_id = 1, position = 0 WHERE id = 4")
            try await other.query("UPDATE playlist_track SET position = 5 WHERE track_id = 1")
            try await other.query("INSERT INTO playlist_track VALUES (1, 3, 3)")
            try await database.tracking.catchUp()
            #expect(try await book.membersInMemory("chapters", isOrdered: true) == [4, 2, 3, 1])
            #expect(try await list.membersInMemory("tracks", isOrdered: true) == [2, 3, 1])
        }
    }

    @Test func deletedObjectsSaySoForGood() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let (ada, bob) = (
                try #require(try await context.find("person", 1)), try #require(try await context.find("person", 2))
            )
            let region = try #require(try await context.find("region", 1))
            _ = try await region.set(forKey: "personSet").objects
            ada["nick"] = "lost"
            try await other.query("DELETE FROM person WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada.isDeleted && !bob.isDeleted && !context.hasStagedChanges)
            #expect(try await region.membersInMemory("personSet") == [2])
            try await other.query("INSERT INTO person VALUES (1, 'New', NULL, 1)")
            try await database.tracking.catchUp()
            #expect(ada.isDeleted)
            #expect(try await region.membersInMemory("personSet") == [1, 2])
            let back = try #require(try await context.find("person", 1))
            #expect(back !== ada && back["name"] == .string("New"))
            // Whatever points to the region is told.
            try await other.query("DELETE FROM region WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(region.isDeleted && back["region_id"] == nil && bob["region_id"] == nil)
        }
    }

    @Test func stagedValuesStay() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let ada = try #require(try await context.find("person", 1))
            ada["nick"] = "mine"
            try await other.query("UPDATE person SET name = 'Eve', nick = 'theirs', region_id = 2 WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["nick"] == .string("mine") && ada["name"] == .string("Eve"))
            ada.rollback()
            #expect(ada["nick"] == .string("theirs"))
            ada["nick"] = "saved"
            try await context.save()
            try await database.tracking.catchUp()
            #expect(ada["nick"] == .string("saved") && !ada.hasStagedChanges)
        }
    }

    @Test func aSaveComparesWithTheVersionThatWasStagedOn() async throws {
        try await withDatabase { database, _, other in
            try await other.query(
                "CREATE TABLE seat (id integer PRIMARY KEY, owner text, note text, version integer NOT NULL)")
            try await other.query(#"COMMENT ON TABLE seat IS '@kindred {"optimisticLocking": "version"}'"#)
            try await other.query("INSERT INTO seat VALUES (1, NULL, NULL, 1), (2, NULL, NULL, 1)")
            try await database.refreshSchema()
            try await database.tracking.install()
            try await database.tracking.enable("seat")
            let context = database.makeContext(tracking: .automatic)
            let seats = try await context.find("seat", [1, 2])
            seats[0]["owner"] = "me"
            try await other.query("UPDATE seat SET note = 'taken', version = 2")
            try await database.tracking.catchUp()
            #expect(seats.map { $0["note"] } == [.string("taken"), .string("taken")])
            // Staged after the change was seen: no conflict.
            seats[1]["owner"] = "me"
            do {
                try await context.save()
                Issue.record("The row has changed since the first of its values was staged")
            } catch let error as KindredError {
                #expect(error.code == .staleObject)
                #expect(error.conflicts.map(\.object) == [seats[0]])
            }
            seats[0].rollback()
            try await context.save()
            #expect(seats[1]["owner"] == .string("me"))
        }
    }

    @Test func ownWritesAreNotAppliedTwice() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let people = try await context.find("person", [1, 2])
            for person in people { _ = try await person.set(forKey: "emailSet").objects }
            let tags = try await people[0].set(forKey: "tags")
            _ = try await tags.objects
            let email = try await context.create("email", ["id": 10, "address": "new", "person": people[0]])
            try await people[1].set(forKey: "emailSet").insert(email)
            try await tags.insert(try #require(try await context.find("tag", 3)))
            people[0]["name"] = "Own"
            try await context.save()
            try await database.tracking.catchUp()
            #expect(try await people[0].membersInMemory("emailSet") == [1, 2])
            #expect(try await people[1].membersInMemory("emailSet") == [3, 10])
            #expect(try await people[0].membersInMemory("tags") == [1, 3])
            #expect(people[0]["name"] == .string("Own") && !context.hasStagedChanges)
            try await other.query("UPDATE email SET person_id = 1 WHERE id = 10")
            try await database.tracking.catchUp()
            #expect(try await people[0].membersInMemory("emailSet") == [1, 2, 10])
        }
    }

    @Test func bulkChangesAreReadInTheStep() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            try await other.query("INSERT INTO email SELECT i, 'bulk', 2 FROM generate_series(100, 1600) AS i")
            let people = try await context.find("person", [1, 2])
            for person in people {
                _ = try await person.set(forKey: "emailSet").objects
                _ = try await person.set(forKey: "tags").count
            }
            let email = try #require(try await context.find("email", 100))
            _ = try await email.object(forKey: "person")
            try await other.query("UPDATE email SET person_id = 3 - person_id, address = address || '!'")
            try await other.query("TRUNCATE person_tag")
            try await database.tracking.catchUp()
            #expect(try await people[0].membersInMemory("emailSet").count == 1_502)
            #expect(try await people[1].membersInMemory("emailSet") == [1, 2])
            #expect(try await people[0].countInMemory("tags") == 0)
            #expect(email["address"] == .string("bulk!"))
            #expect(try await email.oneInMemory("person") == 1)
        }
    }

    @Test func transactionsOfTheContextKeepTheirValues() async throws {
        try await World.run { database, context, other in
            try await seed(other)
            let people = try await context.find("person", [1, 2])
            _ = try await people[0].set(forKey: "emailSet").objects
            try await context.transaction {
                try await people[0].setValue("Inside", forKey: "name")
                // The row is locked; another row is not.
                try await Task.detached {
                    try await other.query("UPDATE person SET name = 'Rob' WHERE id = 2")
                    try await other.query("INSERT INTO email VALUES (20, 'late', 1)")
                    try await database.tracking.catchUp()
                }.value
                #expect(people[0]["name"] == .string("Inside"))
            }
            try await database.tracking.catchUp()
            #expect(people.map { $0["name"] } == [.string("Inside"), .string("Rob")])
            #expect(try await people[0].membersInMemory("emailSet") == [1, 2, 20])
            // A rollback, and changes after it.
            try? await context.transaction {
                try await people[1].setValue("Undone", forKey: "name")
                throw CancellationError()
            }
            try await other.query("UPDATE person SET name = 'Robert' WHERE id = 2")
            try await database.tracking.catchUp()
            #expect(people[1]["name"] == .string("Robert"))
        }
    }

    @Test func tablesThatAreNotEnabledAreNamedAtTheLoad() async throws {
        try await withDatabase { database, _, other in
            try await seed(other)
            let context = database.makeContext(tracking: .automatic)
            await expect(.trackingNotInstalled) { _ = try await context.find("person", 1) }
            try await database.tracking.install()
            try await database.tracking.enable("person")
            await expect(.trackingNotEnabled, "public.region") { _ = try await context.find("region", 1) }
            let ada = try #require(try await context.find("person", 1))
            await expect(.trackingNotEnabled, "public.email") { _ = try await ada.set(forKey: "emailSet").objects }
            // Noticed at the next load.
            try await database.tracking.enable("email")
            #expect(try await ada.set(forKey: "emailSet").count == 2)
        }
    }

    private func expect(
        _ code: KindredError.Code, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("Nothing was thrown", sourceLocation: sourceLocation)
        } catch let error as KindredError {
            #expect(
                error.code == code && (text.isEmpty || error.message.contains(text)), sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }

    @Test func contextsShareStatements() async throws {
        try await World.run { database, _, other in
            try await seed(other)
            let contexts = (0..<20).map { _ in database.makeContext(tracking: .automatic) }
            var people: [DatabaseObject] = []
            for context in contexts { people.append(try #require(try await context.find("person", 1))) }
            try await database.tracking.catchUp()
            let before = database.live.trackingMetrics.withLock { $0.statements }
            try await other.query("UPDATE person SET name = 'All' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(people.allSatisfy { $0["name"] == .string("All") })
            #expect(database.live.trackingMetrics.withLock { $0.statements } == before + 1)
        }
    }

    @Test func contextsThatAreGoneAreForgotten() async throws {
        try await World.run { database, _, other in
            try await seed(other)
            weak var core: ContextCore?
            do {
                let context = database.makeContext(tracking: .automatic)
                core = context.core
                _ = try await context.find("person", 1)
            }
            for _ in 0..<200 where core != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(core == nil)
            for _ in 0..<200 where database.changeReader.cursor != nil { try await Task.sleep(for: .milliseconds(10)) }
            #expect(database.changeReader.cursor == nil)
            let next = database.makeContext(tracking: .automatic)
            let ada = try #require(try await next.find("person", 1))
            try await other.query("UPDATE person SET name = 'Again' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Again"))
        }
    }
}
