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
}
