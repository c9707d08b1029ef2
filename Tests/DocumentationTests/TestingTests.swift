import Kindred
import KindredTesting
import Testing

/// The examples of the article on testing, in a folder from which its paths lead to the demo database.
@Suite struct TestingTests {
    // block: test
    @Test(.database(.file("../../sql/demo.sql"))) func anEmailCanMove() async throws {
        let database = try await TestDatabase.current.connect()
        let context = database.makeContext()
        let person = try await context.fetch("person").where("surname = %@", "Smith").one()
        let email = try await context.create("email", ["address": "new@example.org"])
        try await person.set(forKey: "emailSet").insert(email)
        #expect(email["person_id"] == person["id"])
    }
    // end

    // block: test-script
    @Test(.database(.file("../../sql/demo.sql") + "INSERT INTO title (name) VALUES ('Baron')"))
    func titlesAreThere() async throws {
        let context = try await TestDatabase.current.connect().makeContext()
        #expect(try await context.fetch("title").count() == 8)
    }
    // end

    // block: test-limit
    @Test(.database(.file("../../sql/demo.sql"), timeLimit: .seconds(60)), arguments: ["Smith", "Weber"])
    func peopleAreFound(surname: String) async throws {
        let context = try await TestDatabase.current.connect().makeContext()
        #expect(try await context.fetch("person").where("surname = %@", surname).count() > 0)
    }
    // end

    // block: test-statements
    @Test(.database(.file("../../sql/demo.sql"))) func theListSendsTwoStatements() async throws {
        let context = try await TestDatabase.current.connect().makeContext()
        let (_, recorder) = try await recordingStatements {
            let people = try await context.fetch("person").limit(100).all()
            for person in people { _ = try await person.set(forKey: "emailSet").objects }
        }
        #expect(recorder.statements.count == 2)
    }
    // end

    // block: test-failover
    @Test func aChangeSurvivesAFailover() async throws {
        try await ReplicatedServers.with(.file("../../sql/demo.sql"), lag: .milliseconds(200)) { servers in
            let database = try await servers.connect()
            let context = database.makeContext(reading: .automatic)
            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            try await person.setValue("Smyth", forKey: "surname")
            #expect(try await context.fetch("person").where("surname = %@", "Smyth").exists())
            try await servers.failOver()
            #expect(try await database.makeContext().fetch("person").where("surname = %@", "Smyth").exists())
        }
    }
    // end
}
