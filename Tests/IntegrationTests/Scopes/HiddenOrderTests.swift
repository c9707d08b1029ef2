import Kindred
import KindredTesting
import Testing

/// Ordered many-to-many sets over a helper whose rows are marked as deleted.
@Suite struct HiddenOrderTests {
    private static let schema = """
        CREATE TABLE list (id integer PRIMARY KEY);
        CREATE TABLE song (id integer PRIMARY KEY);
        CREATE TABLE entry (
            list_id integer CONSTRAINT songs REFERENCES list, song_id integer CONSTRAINT lists REFERENCES song, position integer,
            deleted_at timestamptz, PRIMARY KEY (list_id, song_id));
        COMMENT ON TABLE entry IS '@kindred {"softDelete": "deleted_at"}';
        COMMENT ON CONSTRAINT songs ON entry IS '@kindred {"manyToMany": "songs", "orderedBy": "position"}';
        INSERT INTO list VALUES (1);
        INSERT INTO song SELECT generate_series(1, 6);
        INSERT INTO entry VALUES
            (1, 1, 1, NULL), (1, 2, 2, '2020-01-01'), (1, 3, 3, NULL), (1, 4, 4, NULL), (1, 5, 5, '2020-01-01');
        """

    @Test(.database(.sql(schema))) func hiddenPairsAreNoPlaces() async throws {
        try await withDatabase { _, context, other in
            let song = try await context.fetch("song").sorted("id").all()
            let songs = try await context.get("list", 1).set(forKey: "songs")
            func expectOrder(_ ids: [Int64], sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let found = try await songs.objects.map { $0["id"] }
                #expect(found == ids.map { .integer($0) }, sourceLocation: sourceLocation)
                let stored = try await other.integers(
                    "SELECT song_id FROM entry WHERE deleted_at IS NULL ORDER BY position NULLS LAST, song_id")
                #expect(stored == ids, sourceLocation: sourceLocation)
            }
            try await expectOrder([1, 3, 4])
            try await songs.insert(song[1])
            try await expectOrder([1, 3, 4, 2])
            try await songs.insert(song[4])
            try await expectOrder([1, 3, 4, 2, 5])
            try await songs.remove(song[2])
            try await expectOrder([1, 4, 2, 5])
            try await songs.insert(song[2], at: 1)
            try await expectOrder([1, 3, 4, 2, 5])
            try await songs.set([song[5], song[4], song[0]])
            try await expectOrder([6, 5, 1])
            #expect(
                try await other.integers("SELECT song_id FROM entry WHERE deleted_at IS NOT NULL ORDER BY 1") == [
                    2, 3, 4,
                ])
            try await songs.removeAll()
            try await expectOrder([])
            #expect(try await other.integers("SELECT count(*) FROM entry") == [6])
        }
    }

    /// Helpers whose filter, or whose tenant, hides the pair of the list with the second song.
    private static let hiding = """
        CREATE TABLE list (id integer PRIMARY KEY);
        CREATE TABLE song (id integer PRIMARY KEY);
        CREATE TABLE filtered (
            list_id integer REFERENCES list, song_id integer REFERENCES song, position integer,
            hidden boolean NOT NULL DEFAULT false, PRIMARY KEY (list_id, song_id));
        CREATE TABLE owned (
            list_id integer REFERENCES list, song_id integer REFERENCES song, position integer,
            tenant_id integer NOT NULL, PRIMARY KEY (list_id, song_id));
        COMMENT ON TABLE filtered IS '@kindred {"filter": "hidden == false"}';
        COMMENT ON CONSTRAINT filtered_list_id_fkey ON filtered IS
            '@kindred {"manyToMany": "filtered_songs", "orderedBy": "position"}';
        COMMENT ON CONSTRAINT owned_list_id_fkey ON owned IS
            '@kindred {"manyToMany": "owned_songs", "orderedBy": "position"}';
        INSERT INTO list VALUES (1);
        INSERT INTO song SELECT generate_series(1, 4);
        INSERT INTO filtered VALUES (1, 1, 1, false), (1, 2, 2, true), (1, 3, 3, false);
        INSERT INTO owned VALUES (1, 1, 1, 1), (1, 2, 2, 2), (1, 3, 3, 1);
        """

    @Test(.database(.sql(hiding))) func aHiddenPairGetsNoPlace() async throws {
        let refused: [(name: String, call: @Sendable (ToMany<DatabaseObject>, [DatabaseObject]) async throws -> Void)] =
            [
                ("insert", { try await $0.insert($1[1]) }),
                ("insert at a place", { try await $0.insert($1[1], at: 0) }),
                ("formUnion", { try await $0.formUnion([$1[3], $1[1]]) }),
                ("set", { try await $0.set([$1[1], $1[0]]) }),
            ]
        try await withDatabase { database, _, other in
            for helper in ["filtered", "owned"] {
                let before = try await other.texts("SELECT t::text FROM \(helper) AS t ORDER BY 1")
                func context() throws -> DatabaseContext {
                    try helper == "owned" ? database.context(ofTenant: 1) : database.makeContext()
                }
                for (name, call) in refused {
                    let context = try context()
                    let song = try await context.fetch("song").sorted("id").all()
                    let songs = try await context.get("list", 1).set(forKey: "\(helper)_songs")
                    let error = await expectError(.constraintViolation) { try await call(songs, song) }
                    #expect(error?.key == "\(helper)_songs", "\(helper), \(name)")
                    #expect(try await songs.objects.map { $0["id"] } == [1, 3], "\(helper), \(name)")
                    let after = try await other.texts("SELECT t::text FROM \(helper) AS t ORDER BY 1")
                    #expect(after == before, "\(helper), \(name)")
                }
                let context = try context()
                let song = try await context.fetch("song").sorted("id").all()
                let songs = try await context.get("list", 1).set(forKey: "\(helper)_songs")
                try await songs.insert(song[3], at: 0)
                #expect(try await songs.objects.map { $0["id"] } == [4, 1, 3], "\(helper)")
                try await songs.removeAll()
                #expect(try await other.integers("SELECT song_id FROM \(helper)") == [2])
            }
        }
    }
}
