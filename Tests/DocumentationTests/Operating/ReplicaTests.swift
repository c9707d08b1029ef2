import Kindred
import KindredTesting
import Testing

/// The code of the article about replicas, on one server.
@Suite(
    .database("CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL); INSERT INTO person VALUES (1, 'ann')"))
struct ReplicaTests {
    @Test func tokens() async throws {
        let primaryURI = try TestDatabase.current.uri
        let replicaURI = primaryURI
        let database = try await Database.connect(
            primary: try PostgresConfiguration(uri: primaryURI),
            replicas: [try PostgresConfiguration(uri: replicaURI)])
        let context = database.makeContext(reading: .automatic)
        let people = try await context.fetch("person").all()
        let total = try await context.query("SELECT count(*) FROM person", as: Int.self, reading: .automatic)
        #expect(total == [1])
        try await people[0].setValue("anna", forKey: "name")
        let token = context.position?.description
        #expect(token != nil)
        let next = database.makeContext(reading: .automatic, after: token.flatMap { DatabasePosition($0) })
        #expect(try await next.get("person", 1)["name"] == "anna")
        await database.close()
    }

    @Test func replicasWithoutPositions() async throws {
        let primaryURI = try TestDatabase.current.uri
        var delayed = try PostgresConfiguration(uri: primaryURI)
        delayed.replicaDelay = .milliseconds(500)
        let database = try await Database.connect(primary: delayed, replicas: [delayed])
        let context = database.makeContext(reading: .automatic)
        try await context.get("person", 1).setValue("anna", forKey: "name")
        #expect(try await context.get("person", 1)["name"] == "anna")
        await database.close()
    }
}
