import Kindred
import KindredTesting
import Synchronization
import Testing

private let schema = """
    CREATE TABLE band (id integer PRIMARY KEY);
    CREATE TABLE album (id integer PRIMARY KEY, band_id integer REFERENCES band ON DELETE CASCADE);
    CREATE TABLE song (id integer PRIMARY KEY, album_id integer REFERENCES album ON DELETE CASCADE);
    INSERT INTO band VALUES (1), (2);
    INSERT INTO album VALUES (10, 1), (20, 2);
    INSERT INTO song VALUES (100, 10), (200, 20);
    """

/// The names of the classes whose override was called, in the order of the calls.
private let calls = Mutex<[String]>([])

private final class Band: DatabaseObject, TypedObject, @unchecked Sendable {
    static let mapping = EntityMapping(schema: "public", name: "band", [])
}

private final class Album: DatabaseObject, TypedObject, @unchecked Sendable {
    static let mapping = EntityMapping(schema: "public", name: "album", [])
}

private final class Song: DatabaseObject, TypedObject, @unchecked Sendable {
    static let mapping = EntityMapping(schema: "public", name: "song", [])
    override func prepareForDeletion() async throws {
        try await super.prepareForDeletion()
        calls.withLock { $0.append("song \(self["id"] ?? 0)") }
    }
}

private class Record: DatabaseObject, TypedObject, @unchecked Sendable {
    class var mapping: EntityMapping { EntityMapping(schema: "public", name: "band", []) }
}

/// Its class says nothing, and is declared to be typed further up.
private final class Label: Record, @unchecked Sendable {
    override func prepareForDeletion() async { calls.withLock { $0.append("label \(self["id"] ?? 0)") } }
}

/// An override of `prepareForDeletion` is called; without one a deletion is one DELETE.
@Suite(.serialized) struct DeletionOverrideTests {
    private func sent(_ body: () async throws -> Void) async throws -> [String] {
        try await recordingStatements(body).1.statements.map { String($0.prefix(6)) }
    }

    @Test(.database(.sql(schema))) func anOverrideIsCalledAlsoByCascade() async throws {
        try await withDatabase(classes: [Band.self, Album.self, Song.self]) { _, context in
            calls.withLock { $0 = [] }
            let songs = try await context.fetch(Song.self).sorted("id").all()
            try await context.delete(songs[0])
            #expect(calls.withLock { $0 } == ["song 100"])
            // The songs of a band are reached over its albums.
            let bands = try await context.fetch(Band.self).sorted("id").all()
            try await context.delete(bands[1])
            #expect(calls.withLock { $0 } == ["song 100", "song 200"])
            #expect(songs.map(\.isDeleted) == [true, true])
        }
    }

    @Test(.database(.sql(schema))) func classesWithoutAnOverrideAreDeletedByOneStatement() async throws {
        try await withDatabase(classes: [Band.self, Album.self]) { _, context in
            let bands = try await context.fetch(Band.self).sorted("id").all()
            #expect(try await sent { () async throws in try await context.delete(bands[0]) } == ["DELETE"])
        }
    }

    @Test(.database(.sql(schema))) func anOverrideOfASubclassIsCalled() async throws {
        try await withDatabase(classes: [Label.self]) { _, context in
            calls.withLock { $0 = [] }
            let labels = try await context.fetch(Label.self).sorted("id").all()
            try await context.delete(labels)
            #expect(calls.withLock { $0 } == ["label 1", "label 2"])
        }
    }
}
