import EmbeddedPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database("CREATE TABLE note (id int PRIMARY KEY); INSERT INTO note VALUES (1)"))
struct DatabaseTraitTests {
    private static let names = Mutex<Set<String>>([])

    /// Runs SQL by a session of its own, outside everything that the trait lends.
    private func run(_ script: String) async throws -> String {
        let output = try await PostgresInstallation.psql(try TestDatabase.current.uri, script: script)
        return output.split(whereSeparator: \.isNewline).joined(separator: "\n")
    }

    @Test func theSuitesFixtureIsThere() async throws {
        #expect(try await run("SELECT id FROM note") == "1")
    }

    @Test(arguments: 1...8) func everyCaseHasADatabaseOfItsOwn(number: Int) async throws {
        let name = try TestDatabase.current.name
        #expect(Self.names.withLock { $0.insert(name).inserted })
        #expect(try await run("INSERT INTO note VALUES (\(number + 1)); SELECT count(*) FROM note") == "2")
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
