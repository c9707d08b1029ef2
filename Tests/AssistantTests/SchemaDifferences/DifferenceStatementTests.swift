import Foundation
import Kindred
import KindredSchemaDifferences
import KindredTesting
import Testing

/// The statements of a comparison: to a database of the caller's, and to the private server.
@Suite(.database) struct DifferenceStatementTests {
    /// A schema is read by twelve statements, in one round trip with BEGIN and COMMIT.
    private static let reading = 14

    /// Before a database's schema is read, its search path is asked for, over another connection.
    private static let question = 1

    /// On the private server a database is made and dropped, and read with the old side; in transactions it is read empty
    /// before a side is made, and with the new one.
    private static let comparison = roles + 2 + reading + 3 * (reading - 2)

    /// The roles of the private server's sessions are made by a script, and dropped.
    private static let roles = 1

    /// For the copy of a database, one is made and dropped, read empty in a transaction, and read with the copy.
    private static let copy = 2 + (reading - 2) + reading

    /// A row's transaction: a setting, INSERT, UPDATE and DELETE, and the deferred constraints after each of them.
    private static let row = 1 + 3 * 2

    private func database() throws -> SchemaSource {
        .database(try PostgresConfiguration(uri: try TestDatabase.current.uri))
    }

    private func compare(
        _ from: SchemaSource, _ to: SchemaSource, isProven: Bool = true
    ) async throws -> (differences: SchemaDifferences, statements: Int, recorder: StatementRecorder) {
        var options = SchemaDifferences.Options()
        options.isProven = isProven
        options.isConcurrent = false
        let (differences, recorder) = try await recordingStatements {
            try await SchemaDifferences.between(from, to, options: options)
        }
        return (differences, recorder.statements.count, recorder)
    }

    @Test func aDatabaseIsReadInOneTransactionAndOneRoundTrip() async throws {
        let (differences, statements, recorder) = try await compare(try database(), try database())
        #expect(differences.isEmpty)
        for side in [recorder.all, Array(recorder.all.dropFirst(Self.question + Self.reading))] {
            let side = side.dropFirst(Self.question).prefix(Self.reading)
            #expect(side.first?.sql == "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" && side.last?.sql == "COMMIT")
            #expect(side.dropFirst().dropLast().allSatisfy { $0.kind == .statement && $0.sql.hasPrefix("SELECT") })
            // Statements that are sent together are measured together.
            #expect(Set(side.map(\.duration)).count == 1)
        }
        // Both sides are copied, and dumped.
        #expect(statements == 2 * (Self.question + Self.reading) + Self.comparison + 2 * Self.copy)
    }

    @Test func scriptsRunInDatabasesOfTheirOwn() async throws {
        let from = SchemaSource.sql("CREATE TABLE a (id integer)", name: "from")
        let to = SchemaSource.sql("CREATE TABLE a (id integer, name text); CREATE TABLE b (id integer)", name: "to")
        // A script's database is made, dropped, and read after the script.
        let sides = 2 * (2 + Self.reading)
        // The old side is made by one statement, the new one by two.
        let (same, equal, _) = try await compare(from, from)
        #expect(same.isEmpty && equal == sides + Self.comparison + 1 + 1, "\(equal)")
        let (planned, plain, _) = try await compare(from, to, isProven: false)
        #expect(planned.steps.map(\.statements.count) == [2] && plain == sides + Self.comparison + 1 + 2, "\(plain)")
        // The proof runs the statements and reads once more, finds out about the tables, and writes a row in both.
        let (proven, all, _) = try await compare(from, to)
        #expect(proven.proof == .proven && all == plain + 2 + Self.reading + 3 + 2 * Self.row, "\(all)")
    }

    @Test func inspectionsSendNothingOrWhatReadingASchemaSends() async throws {
        let client = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        let (schema, reading) = try await recordingStatements { try await SchemaReader.read(from: client) }
        await client.close()
        let json = SchemaSource.inspection(schema.json())
        #expect(try await compare(json, json).statements == 0)
        let (differences, statements, _) = try await compare(try database(), json)
        // In the transaction, the search path is set that was asked for.
        #expect(differences.isEmpty && differences.isOfModels)
        #expect(statements == Self.question + 1 + reading.statements.count)
    }

    @Test func namingASideSendsNothing() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "kindred-side-\(UUID().uuidString).sql").path
        try "CREATE TABLE a ()".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (_, recorder) = try await recordingStatements {
            _ = try SchemaSource(argument: path)
            _ = try SchemaSource(argument: "postgres://localhost/shop")
        }
        #expect(recorder.all.isEmpty)
    }
}
