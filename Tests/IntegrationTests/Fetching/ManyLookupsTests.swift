import KindredTesting
import Synchronization
import Testing

@testable import Kindred

private let notes = """
    CREATE TABLE note (id int PRIMARY KEY, text text NOT NULL);
    INSERT INTO note SELECT n, 'note ' || n FROM generate_series(1, 100) AS n;
    CREATE TABLE mark (id uuid PRIMARY KEY, note_id int REFERENCES note);
    INSERT INTO mark SELECT md5(n::text)::uuid, n FROM generate_series(1, 100) AS n;
    """

/// Many tasks look up objects by key over few connections.
@Suite struct ManyLookupsTests {
    @Test(.database(.sql(notes))) func everyLookupGetsItsObjectAndIsToldOnce() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.maximumConnections = 2
        let database = try await Database.connect(configuration)
        let marks = try await database.makeContext().fetch("mark").all()
        let events = Mutex<[StatementEvent]>([])
        let observation = database.client.addObserver { event in events.withLock { $0.append(event) } }
        try await withThrowingDiscardingTaskGroup { group in
            for task in 0..<32 {
                group.addTask {
                    let context = database.makeContext()
                    for step in 0..<25 {
                        let id = Int64(1 + (task * 7 + step * 13) % 125)
                        let note = try await context.find("note", id)
                        #expect(note?["text"] == (id <= 100 ? .string("note \(id)") : nil))
                        #expect((note == nil) == (id > 100))
                        let mark = marks[(task * 11 + step) % 100]
                        let found = try await context.get(try #require(mark.objectID))
                        #expect(found["note_id"] == mark["note_id"])
                    }
                }
            }
        }
        observation.cancel()
        let told = events.withLock { $0 }
        // A context finds held objects in memory; these objects are not held.
        #expect(told.count == 32 * 25 * 2)
        #expect(told.allSatisfy { $0.sql.hasSuffix(#"WHERE "id" = $1"#) })
        #expect(told.allSatisfy { $0.place?.fileID.hasSuffix("ManyLookupsTests.swift") == true })
        #expect(told.allSatisfy { $0.rows == 1 || $0.rows == 0 && $0.sql.contains("\"note\"") })
        await database.close()
    }
}
