import Kindred
import Synchronization
import Testing

@testable import KindredTesting

@Suite(.database("CREATE TABLE note (id int PRIMARY KEY); INSERT INTO note VALUES (1)"))
struct DatabaseTraitTests {
    private static let names = Mutex<Set<String>>([])

    /// Runs a query by a client of its own, and gives its one value as text.
    private func run(_ sql: SQL) async throws -> String? {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        let result = try await client.query(sql)
        await client.close()
        return try result.first?[0]?.description
    }

    @Test func databasesOfRunsThatHaveEndedAreDropped() async throws {
        try await withClient { client in
            let own = try TestDatabase.current.name
            let (dead, alive) = (Int32.random(in: 1...Int32.max), Int32.random(in: 1...Int32.max))
            let names =
                [dead, alive].map { "kindred_template_\(String($0, radix: 36))_1" } + ["kindred_template_mine_x"]
            for name in names { try await client.query("CREATE DATABASE \(identifier: name) TEMPLATE template0") }
            func left() async throws -> Set<String> {
                Set(try await client.query("SELECT datname::text FROM pg_database").map { try $0.decode(0) ?? "" })
            }
            try await client.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock(\(TestRun.lockClass)::int4, \(alive)::int4)")
                await TestRun.dropDatabasesOfEndedRuns(over: client)
                #expect(try await left().intersection(names + [own]) == [names[1], names[2], own])
            }
            await TestRun.dropDatabasesOfEndedRuns(over: client)
            #expect(try await left().intersection(names + [own]) == [names[2], own])
            try await client.query("DROP DATABASE \(identifier: names[2])")
        }
    }

    @Test func theSuitesFixtureIsThere() async throws {
        #expect(try await run("SELECT id FROM note") == "1")
    }

    @Test(arguments: 1...8) func everyCaseHasADatabaseOfItsOwn(number: Int) async throws {
        let name = try TestDatabase.current.name
        #expect(Self.names.withLock { $0.insert(name).inserted })
        _ = try await run("INSERT INTO note VALUES (\(number + 1))")
        #expect(try await run("SELECT count(*) FROM note") == "2")
        #expect(try await run("SELECT current_database()") == name)
    }

    @Test(.database) func theNearestTraitDecides() async throws {
        #expect(try await run("SELECT to_regclass('note') IS NULL") == "t")
    }

    @Test(.database(.file("../../../sql/demo.sql") + "CREATE TABLE extra ()"))
    func fixturesAreFilesAndSums() async throws {
        #expect(try await run("SELECT count(*) FROM person") == "500")
        #expect(try await run("SELECT count(*) FROM extra") == "0")
    }

    @Test func aFixtureThatFailsSaysWhereAndWhy() async throws {
        let server = try await TestServer.shared()
        let error = await #expect(throws: TestDatabaseError.self) {
            try await server.makeDatabase("CREATE TABLE first (id int); CREATE TABLE second (id nonsense)")
        }
        #expect(error?.code == .fixtureFailed)
        #expect(error?.message.contains("nonsense") == true)
    }

    @Test func aConnectionIsMadeForTheTest() async throws {
        let database = try await TestDatabase.current.connect { $0.pool.maximumConnections = 1 }
        #expect(try await database.makeContext().fetch("note").count() == 1)
        #expect(database.client.configuration.pool.maximumConnections == 1)
    }

    @Test func childTasksSeeTheTestsDatabase() async throws {
        let name = try TestDatabase.current.name
        async let child = TestDatabase.current.name
        #expect(try await child == name)
        #expect(try await Task { try TestDatabase.current.name }.value == name)
    }

    @Test func aDetachedTaskHasNoDatabase() async throws {
        let error = await #expect(throws: TestDatabaseError.self) {
            try await Task.detached { try TestDatabase.current.name }.value
        }
        #expect(error?.code == .noDatabase)
    }
}
