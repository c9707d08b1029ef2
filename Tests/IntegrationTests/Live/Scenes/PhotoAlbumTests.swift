import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE album (id integer PRIMARY KEY, title text NOT NULL);
    CREATE TABLE photo (
        id integer PRIMARY KEY, title text NOT NULL, album_id integer NOT NULL REFERENCES album ON DELETE CASCADE);
    CREATE TABLE tag (id integer PRIMARY KEY, name text NOT NULL);
    CREATE TABLE photo_tag (
        photo_id integer REFERENCES photo ON DELETE CASCADE, tag_id integer REFERENCES tag ON DELETE CASCADE,
        PRIMARY KEY (photo_id, tag_id));
    INSERT INTO album VALUES (1, 'Alps'), (2, 'Beach');
    INSERT INTO photo VALUES (1, 'peak', 1), (2, 'hut', 1), (3, 'lake', 1), (4, 'wave', 2), (5, 'dune', 2);
    INSERT INTO tag VALUES (1, 'blue'), (2, 'white');
    INSERT INTO photo_tag VALUES (1, 2), (2, 2), (3, 1), (4, 1);
    """

/// The photos of albums, of which an album is deleted elsewhere: a cascade is a change like any other, and names the
/// rows that are gone.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct PhotoAlbumTests {
    private static let tables = ["album", "photo", "tag", "photo_tag"]

    private func withAlbums(
        _ body: (_ database: Database, _ context: DatabaseContext, _ other: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
            try await body(database, context, other)
        }
    }

    @Test func aListLosesTheAlbumsPhotosAndNamesThem() async throws {
        try await withAlbums { database, context, other in
            let photos = try context.fetch("photo").sorted("title").prefetch("tagSet")
            var all = try await photos.live().makeAsyncIterator()
            var two = try await photos.limit(2).live().makeAsyncIterator()
            var blue = try await context.fetch("photo").where("ANY tagSet.name = %@", "blue").sorted("album.title")
                .live()
                .makeAsyncIterator()
            let alps = try await context.fetch("album").where("id = %@", 1).one()
            var ofAlps = try await alps.set(forKey: "photoSet").live().makeAsyncIterator()
            #expect(try await all.update().integers() == [5, 2, 3, 1, 4])
            #expect(try await two.update().integers() == [5, 2])
            #expect(try await blue.update().integers() == [3, 4])
            #expect(try await Set(ofAlps.update().integers()) == [1, 2, 3])
            try await other.query("DELETE FROM album WHERE id = 1")
            try await database.tracking.catchUp()
            var update = try await all.update()
            #expect(update.integers() == [5, 4] && update.removals == [1, 2, 3] && update.insertions == [])
            #expect(
                update.removedIDs.map(\.uri) == [
                    "kindred:/public/photo?id=2", "kindred:/public/photo?id=3", "kindred:/public/photo?id=1",
                ])
            let cursor = update.cursor.changes
            // Another album comes into the free place.
            update = try await two.update()
            #expect(update.integers() == [5, 4] && update.removals == [1] && update.insertions == [1])
            #expect(update.removedIDs.map(\.values) == [[.integer(2)]] && update.cursor.changes == cursor)
            update = try await blue.update()
            #expect(update.integers() == [4] && update.removedIDs.map(\.values) == [[.integer(3)]])
            #expect(update.cursor.changes == cursor)
            update = try await ofAlps.update()
            #expect(update.objects.isEmpty && update.cursor.changes == cursor)
            #expect(Set(update.removedIDs.map(\.values)) == [[.integer(1)], [.integer(2)], [.integer(3)]])
        }
    }

    @Test func changesNameAllThatTheCascadeDeleted() async throws {
        try await withAlbums { database, context, other in
            var changes = try await context.changes(of: Self.tables).makeAsyncIterator()
            try await other.query("DELETE FROM album WHERE id = 1")
            #expect(
                try await changes.seen(database)
                    == .changes(
                        inserted: [], updated: [:],
                        deleted: [
                            "album 1", "photo 1", "photo 2", "photo 3", "photo_tag 1,2", "photo_tag 2,2",
                            "photo_tag 3,1",
                        ]))
            // A row that comes and goes in one transaction is not named.
            try await other.withTransaction { _ in
                try await other.query("INSERT INTO album VALUES (9, 'Short')")
                try await other.query("INSERT INTO photo VALUES (9, 'gone', 9), (10, 'stays', 9)")
                try await other.query("UPDATE photo SET album_id = 2 WHERE id = 10")
                try await other.query("DELETE FROM album WHERE id = 9")
            }
            #expect(try await changes.seen(database) == .inserted("photo 10"))
        }
    }

    @Test func objectsOfTheAlbumsPhotosAreDeleted() async throws {
        try await withAlbums { database, _, other in
            let context = database.makeContext(tracking: .automatic)
            let albums = try await context.find("album", [1, 2])
            let photos = try await context.find("photo", [1, 2, 3, 4, 5])
            let tags = try await context.find("tag", [1, 2])
            for album in albums { _ = try await album.set(forKey: "photoSet").objects }
            for tag in tags { _ = try await tag.set(forKey: "photoSet").count }
            photos[0]["title"] = "staged"
            try await other.query("DELETE FROM album WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(albums.map(\.isDeleted) == [true, false])
            #expect(photos.map(\.isDeleted) == [true, true, true, false, false])
            #expect(!context.hasStagedChanges)
            #expect(try await albums[1].membersInMemory("photoSet") == [4, 5])
            #expect(try await tags[0].countInMemory("photoSet") == 1)
            #expect(try await tags[1].countInMemory("photoSet") == 0)
        }
    }
}
