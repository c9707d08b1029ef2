import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE album (id integer PRIMARY KEY, title text NOT NULL);
    CREATE TABLE photo (
        id integer PRIMARY KEY, album_id integer NOT NULL REFERENCES album ON DELETE CASCADE, taken date NOT NULL,
        place integer);
    COMMENT ON CONSTRAINT photo_album_id_fkey ON photo IS '@kindred {"inverse": "photos", "orderedBy": "place"}';
    CREATE TABLE note (id integer PRIMARY KEY, hidden boolean NOT NULL DEFAULT false, text text);
    ALTER TABLE note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY shown ON note USING (NOT hidden);
    GRANT SELECT ON note TO PUBLIC;
    INSERT INTO album VALUES (1, 'Alps'), (2, 'Beach');
    INSERT INTO photo VALUES
        (1, 1, '2020-01-01', 1), (2, 1, '2020-01-02', 2), (3, 2, '2020-01-01', 1), (4, 2, '2020-01-03', 2);
    INSERT INTO note (id, text) VALUES (1, 'a'), (2, 'b');
    """

/// Sections of live lists, single objects and sets, and rows that policies hide.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct LiveListTests {
    @Test func aDeletedAlbumTakesItsPhotosOutOfTheList() async throws {
        try await withLive("album", "photo") { _, context, other in
            var updates = try await context.fetch("photo").sorted("taken").sorted("album.title").live()
                .makeAsyncIterator()
            #expect(try await updates.update().integers() == [1, 3, 2, 4])
            try await other.query("DELETE FROM album WHERE id = 1")
            let update = try await updates.update()
            #expect(update.integers() == [3, 4] && update.removals == [0, 2])
            #expect(update.removedIDs.map(\.uri) == ["kindred:/public/photo?id=1", "kindred:/public/photo?id=2"])
            #expect(update.difference.removals.count == 2 && update.difference.insertions.isEmpty)
        }
    }

    /// Both are asked in the order of the key, but only one of them is in it.
    @Test func aListWithoutAnOrderIsNotTheOneInTheOrderOfItsKey() async throws {
        try await withLive("album") { _, context, other in
            var plain = try await context.fetch("album").live().makeAsyncIterator()
            #expect(try await plain.update().integers() == [1, 2])
            var sorted = try await context.fetch("album").sorted("id").live().makeAsyncIterator()
            #expect(try await sorted.update().integers() == [1, 2])
            try await other.query("INSERT INTO album VALUES (0, 'Cape')")
            #expect(try await plain.update().integers() == [1, 2, 0])
            #expect(try await sorted.update().integers() == [0, 1, 2])
        }
    }

    @Test func sectionsComeAndGoWithTheirObjects() async throws {
        try await withLive("photo") { _, context, other in
            let live = try await context.fetch("photo").sorted("taken").live()
            #expect(throws: KindredError.self) { try live.sections(by: "album_id") }
            #expect(throws: KindredError.self) { try live.sections(by: "nothing") }
            var updates = try live.sections(by: "taken").makeAsyncIterator()
            func items(_ update: LiveSectionsUpdate<DatabaseObject>) -> [[PostgresValue?]] {
                update.sections.map { $0.objects.map { $0["id"] } }
            }
            var update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(1), .integer(3)], [.integer(2)], [.integer(4)]])
            #expect(update.removedSections == [] && update.insertedSections == [])
            #expect(update.place(at: 1)?.section == 0 && update.place(at: 1)?.item == 1)
            #expect(update.place(at: 3)?.section == 2 && update.place(at: 4) == nil)
            try await other.query("UPDATE photo SET taken = '2020-01-01' WHERE id = 2")
            update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(1), .integer(2), .integer(3)], [.integer(4)]])
            #expect(update.removedSections == [1] && update.insertedSections == [])
            try await other.query("INSERT INTO photo VALUES (5, 1, '2019-12-31')")
            update = try #require(try await updates.next())
            #expect(items(update) == [[.integer(5)], [.integer(1), .integer(2), .integer(3)], [.integer(4)]])
            #expect(update.insertedSections == [0] && update.update.insertions == [0])
            #expect(update.sections.map(\.value).count == 3)
        }
    }

    @Test func oneObjectIsObserved() async throws {
        try await withLive("album", "photo") { _, context, other in
            let album = try await context.fetch("album").where("id = %@", 1).one()
            var updates = try await context.live(album, prefetch: "photos").makeAsyncIterator()
            let first = try await updates.update()
            let seen = try #require(first.objects.first)
            #expect(seen !== album && seen.objectID == album.objectID)
            try await other.query("UPDATE album SET title = 'Andes' WHERE id = 1")
            #expect(try await updates.update().updates == [0])
            #expect(seen["title"] == .string("Andes") && album["title"] == .string("Alps"))
            try await other.query("DELETE FROM photo WHERE id = 2")
            #expect(try await updates.update().updates == [0])
            #expect(try await seen.set(forKey: "photos").objects.map { $0["id"] } == [.integer(1)])
            try await other.query("DELETE FROM album WHERE id = 1")
            let last = try await updates.update()
            #expect(last.objects.isEmpty && last.removedIDs == [album.objectID])
        }
    }

    @Test func oneSetIsObservedInItsOrder() async throws {
        try await withLive("photo") { _, context, other in
            let album = try await context.fetch("album").where("id = %@", 1).one()
            var updates = try await album.set(forKey: "photos").live().makeAsyncIterator()
            #expect(try await updates.update().integers() == [1, 2])
            try await other.query("UPDATE photo SET place = 3 WHERE id = 1")
            let update = try await updates.update()
            #expect(update.integers() == [2, 1] && update.moves.count == 1)
            try await other.query("UPDATE photo SET album_id = 1, place = 0 WHERE id = 3")
            #expect(try await updates.update().integers() == [3, 2, 1])
        }
    }

    @Test func aRowThatAPolicyHidesIsRemoved() async throws {
        try await withLive("note") { database, _, other in
            try await withReader(of: database, other) { theirs in
                var updates = try await theirs.makeContext().fetch("note").sorted("id").live().makeAsyncIterator()
                #expect(try await updates.update().integers() == [1, 2])
                try await other.query("UPDATE note SET hidden = true WHERE id = 1")
                let update = try await updates.update()
                #expect(update.integers() == [2] && update.removals == [0] && update.updates == [])
                #expect(update.cause == .change)
                // Changes of hidden rows give no update.
                try await other.query("UPDATE note SET text = 'x' WHERE id = 1")
                try await other.query("UPDATE note SET text = 'y' WHERE id = 2")
                #expect(try await updates.update().updates == [0])
                try await other.query("UPDATE note SET hidden = false WHERE id = 1")
                #expect(try await updates.update().integers() == [1, 2])
            }
        }
    }
}
