import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Contexts that follow while a table that they have loaded is changed.
@Suite(.database(.sql(FollowedWorld.schema)), .timeLimit(.minutes(5))) struct ChangedTableFollowingTests {
    /// A change of the table `person` whose rows are still found.
    struct Change: Sendable, CustomTestStringConvertible {
        let sql: SQL
        let column: String
        var testDescription: String { "\(sql)" }
    }

    static let changes = [
        Change(sql: "ALTER TABLE person DROP COLUMN nick", column: "nick"),
        Change(sql: "ALTER TABLE person RENAME COLUMN nick TO byname", column: "nick"),
        Change(sql: "ALTER TABLE person ALTER COLUMN nick TYPE integer USING 7", column: "nick"),
    ]

    private func seed(_ other: PostgresClient) async throws {
        try await other.query("INSERT INTO region VALUES (1, 'north'), (2, 'south')")
        try await other.query("INSERT INTO person VALUES (1, 'Ada', 'a', 1), (2, 'Bob', 'b', 1)")
        try await other.query("INSERT INTO email VALUES (1, 'x', 1), (2, 'y', 1)")
    }

    @Test(arguments: changes, [true, false])
    func followingGoesOnWhereRowsAreFound(_ change: Change, hasEventTriggers: Bool) async throws {
        try await FollowedWorld.run { database, context, other in
            try await seed(other)
            if !hasEventTriggers {
                try await other.query("DROP EVENT TRIGGER kindred_tracking_ddl")
                try await other.query("DROP EVENT TRIGGER kindred_tracking_dropped")
            }
            let elsewhere = database.makeContext(tracking: .automatic)
            let north = try #require(try await elsewhere.find("region", 1))
            let people = try await context.fetch("person").sorted("id").all()
            let email = try #require(try await context.find("email", 1))
            _ = try await people[0].set(forKey: "emailSet").objects
            #expect(try await email.object(forKey: "person") === people[0])
            try await other.query(change.sql)
            try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
            try await other.query("DELETE FROM person WHERE id = 2")
            try await other.query("INSERT INTO email VALUES (3, 'z', 1)")
            try await other.query("UPDATE region SET name = 'far north' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(north["name"] == .string("far north"))
            #expect(people[0]["name"] == .string("Eve"))
            #expect(people[1].isDeleted)
            #expect(try await people[0].membersInMemory("emailSet") == [1, 2, 3])
            #expect(try await email.oneInMemory("person") == 1)
            // A column that is gone never shows an old value.
            await expectError(.schemaChanged) { _ = try await people[0].value(forKey: change.column) }
            #expect(throws: KindredError.self) { _ = try people[0].value(forKey: change.column, as: String.self) }
            // The model was read again.
            try await eventually("the new model") {
                let column = try? database.schema.entity(named: "person").attributes.first { $0.name == change.column }
                return column?.typeName != "text"
            }
            let later = database.makeContext(tracking: .automatic)
            let ada = try #require(try await later.find("person", 1))
            try await other.query("UPDATE person SET name = 'Fay' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Fay") && people[0]["name"] == .string("Fay"))
        }
    }

    @Test func aColumnThatIsThereAgainIsShown() async throws {
        try await FollowedWorld.run { database, context, other in
            try await seed(other)
            let ada = try #require(try await context.find("person", 1))
            try await other.query("ALTER TABLE person RENAME COLUMN nick TO byname")
            try await database.tracking.catchUp()
            #expect(throws: KindredError.self) { _ = try ada.value(forKey: "nick", as: String.self) }
            try await other.query("ALTER TABLE person RENAME COLUMN byname TO nick")
            try await other.query("UPDATE person SET nick = 'again' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(try ada.value(forKey: "nick", as: String.self) == "again")
        }
    }

    @Test func whatAModelCanStillHoldIsShown() async throws {
        try await FollowedWorld.run { database, context, other in
            try await other.query("INSERT INTO person VALUES (1, 'Ada', 'a', NULL)")
            try await other.query("INSERT INTO enrolment SELECT 1, 4, 1, id FROM (SELECT 1 AS id) AS c WHERE false")
            try await other.query("INSERT INTO course VALUES (1, 'p')")
            try await other.query("INSERT INTO enrolment VALUES (1, 4, 1, 1)")
            let enrolment = try #require(try await context.find("enrolment", 1))
            try await other.query("ALTER TABLE enrolment ALTER COLUMN grade TYPE bigint")
            try await other.query("UPDATE enrolment SET grade = 5")
            try await database.tracking.catchUp()
            #expect(try enrolment.value(forKey: "grade", as: Int.self) == 5)
            // More than the model's type holds: the column alone is left out.
            try await other.query("UPDATE enrolment SET grade = 5000000000, id = 1")
            try await database.tracking.catchUp()
            #expect(throws: KindredError.self) { _ = try enrolment.value(forKey: "grade", as: Int.self) }
        }
    }

    @Test(
        arguments: ["ALTER TABLE person RENAME COLUMN region_id TO area_id", "ALTER TABLE person RENAME TO human"]
            as [SQL])
    func whereRowsAreNotFoundEverythingLoadedIsStale(_ change: SQL) async throws {
        try await FollowedWorld.run { database, context, other in
            try await seed(other)
            let elsewhere = database.makeContext(tracking: .automatic)
            let north = try #require(try await elsewhere.find("region", 1))
            let ada = try #require(try await context.find("person", 1))
            try await other.query(change)
            try await other.query("UPDATE region SET name = 'far north' WHERE id = 1")
            let error = await expectError(.schemaChanged) { try await database.tracking.catchUp() }
            #expect(error?.entity == "public.person")
            #expect(north["name"] == .string("far north"))
            await expectError(.schemaChanged) { _ = try await ada.value(forKey: "name") }
            await expectError(.schemaChanged) { _ = try await context.fetch("person").all() }
            // As long as the context has loaded objects.
            await expectError(.schemaChanged) { try await database.tracking.catchUp() }
            withExtendedLifetime(ada) {}
        }
    }

    @Test func whatStoppedWithTheReaderIsStaleUntilItIsLoadedAgain() async throws {
        try await FollowedWorld.run { database, context, other in
            try await seed(other)
            let ada = try #require(try await context.find("person", 1))
            let reader = database.changeReader
            reader.failAll(KindredError(.trackingNotInstalled, "for a test"))
            try await other.query("UPDATE person SET name = 'Eve' WHERE id = 1")
            await expectError(.trackingNotInstalled) { try await database.tracking.catchUp() }
            #expect(try await ada.value(forKey: "name")?.attribute == "Eve")
            // The next load begins anew.
            _ = try await context.fetch("person").all()
            try await other.query("UPDATE person SET name = 'Fay' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(ada["name"] == .string("Fay"))
        }
    }
}
