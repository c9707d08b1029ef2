import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE shelf (id integer PRIMARY KEY, name text);
    CREATE TABLE note (id integer PRIMARY KEY, word text, shelf_id integer REFERENCES shelf);
    CREATE TABLE tag (id integer PRIMARY KEY);
    CREATE TABLE note_tag (
        note_id integer REFERENCES note ON DELETE CASCADE, tag_id integer REFERENCES tag, PRIMARY KEY (note_id, tag_id));
    INSERT INTO shelf VALUES (1), (2);
    INSERT INTO note SELECT n, 'w' || n, 1 FROM generate_series(1, 5) AS n;
    INSERT INTO tag VALUES (1), (2);
    """

/// `PostgresConfiguration.tracksCommits`: whatever call loses the answer to its COMMIT, its outcome can be looked up.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(5))) struct TrackedCallTests {
    /// The calls that commit.
    enum Call: String, CaseIterable {
        case saveNew, saveChanged, saveMany, create, upsert, setInsert, setMove, update, delete, deleteByCondition,
            rawSQL
        case transaction, copy

        func run(_ context: DatabaseContext, _ note: DatabaseObject, _ database: Database) async throws {
            switch self {
            case .saveNew:
                _ = try context.add("note", ["id": 10])
                try await context.save()
            case .saveChanged:
                note["word"] = .string("new")
                try await context.save()
            case .saveMany:
                for id in 20..<30 { _ = try context.add("note", ["id": id]) }
                note["word"] = .string("new")
                try await context.save()
            case .create: _ = try await context.create("note", ["id": 11])
            case .upsert: _ = try await context.upsert("note", ["id": 1, "word": "new"], on: "id")
            case .setInsert:
                let tag = try await context.get("tag", 1)
                try await note.set(forKey: "tagSet").insert(tag)
            case .setMove:
                let shelf = try await context.get("shelf", 2)
                try await shelf.set(forKey: "noteSet").insert(note)
            case .update: _ = try await context.fetch("note").where("id < 4").update(["word": "new"])
            case .delete: try await context.delete(note)
            case .deleteByCondition: _ = try await context.fetch("note").where("id > 3").delete()
            case .rawSQL: try await database.query("UPDATE note SET word = 'new'")
            case .transaction:
                try await context.transaction {
                    note["word"] = .string("new")
                    try await context.save()
                }
            case .copy:
                let lines = AsyncStream<[UInt8]> { stream in
                    stream.yield(Array("31\tword\t1\n".utf8))
                    stream.finish()
                }
                try await database.client.copyIn("COPY note FROM STDIN", from: lines)
            }
        }
    }

    private static let state: SQL = """
        SELECT concat_ws(';', (SELECT string_agg(n::text, ',' ORDER BY id) FROM note AS n),
            (SELECT string_agg(t::text, ',' ORDER BY note_id, tag_id) FROM note_tag AS t))
        """

    @Test(arguments: Call.allCases) func theOutcomeIsFound(call: Call) async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        var configuration = proxy.configuration
        configuration.tracksCommits = true
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        let note = try await context.get("note", 1)
        proxy.set { direction, bytes in
            guard direction == .toClient, let tag = position(of: "COMMIT\0", in: bytes) else { return .forward }
            return .cutAfter(tag - 5)
        }
        try await withClient { other in
            let before = try await other.value(Self.state)
            let error = await expectPostgresError(.commitUnknown) { try await call.run(context, note, database) }
            proxy.set { _, _ in .forward }
            let id = try #require(error?.transactionID)
            #expect(try await other.resolveCommit(id, timeout: .seconds(120)) == .committed)
            #expect(try await other.value(Self.state) != before)
        }
        await database.close(timeout: .zero)
    }

    @Test func whatOnlyReadsCostsNothing() async throws {
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.tracksCommits = true
        let database = try await Database.connect(configuration)
        let context = database.makeContext()
        let (_, recorder) = try await recordingStatements {
            let notes = try await context.fetch("note").prefetch("tagSet").all()
            #expect(notes.count == 5)
        }
        #expect(recorder.all.count == 2)
        let (_, writes) = try await recordingStatements { _ = try await context.create("note", ["id": 12]) }
        #expect(writes.statements.count == 1 && writes.all.map(\.sql).filter { $0 == "COMMIT" }.count == 1)
        await database.close()
    }
}
