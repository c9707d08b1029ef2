import DemoModels
import Foundation
import Kindred
import KindredLive
import KindredTesting
import Testing

/// The examples of the article on live changes.
@Suite struct LiveTests {
    private static let chinook = """
        CREATE TABLE playlist (playlist_id integer PRIMARY KEY, name text);
        CREATE TABLE track (track_id integer PRIMARY KEY, name text);
        CREATE TABLE playlist_track (playlist_id integer REFERENCES playlist, track_id integer REFERENCES track,
            PRIMARY KEY (playlist_id, track_id));
        INSERT INTO playlist VALUES (1, 'Grunge');
        INSERT INTO track VALUES (1, 'Man In The Box'), (2, 'Smells Like Teen Spirit');
        INSERT INTO playlist_track VALUES (1, 1);
        """

    @Test(.database(.sql(chinook))) func aPlaylist() async throws {
        try await withShop(classes: []) { database, context, _ in
            let program = Task { try await Self.playlist(database) }
            try await eventually { try await database.tracking.status()?.tables.count == 3 }
            var updates = try await context.fetch("track").where("ANY playlistSet.name = %@", "Grunge").sorted("name")
                .live().makeAsyncIterator()
            #expect(try await updates.next()?.objects.count == 1)
            try await database.query("INSERT INTO playlist_track VALUES (1, 2)")
            #expect(try await updates.next()?.insertions == [1])
            try await database.query("UPDATE playlist SET name = 'Classical'")
            #expect(try await updates.next()?.removedIDs.count == 2)
            program.cancel()
        }
    }

    private static func playlist(_ database: Database) async throws {
        // block: playlist
        try await database.tracking.install()
        try await database.tracking.enable("playlist", "playlist_track", "track")

        let tracks = try database.makeContext().fetch("track")
            .where("ANY playlistSet.name = %@", "Grunge").sorted("name")
        for try await update in try await tracks.live() {
            for id in update.removedIDs { print("-", id) }
            for place in update.insertions { print("+", update.objects[place]["name"] ?? "-") }
            print(update.objects.count, "tracks")
        }
        // end
    }

    @Test(.shop) func requests() async throws {
        try await withTrackedShop { database, context in
            // block: live
            let books = try context.fetch("book").where("category.name == %@", "Poetry").sorted("title").limit(20)
            for try await update in try await books.prefetch("authors").live() {
                print(update.objects.count, update.removals, update.insertions, update.moves, update.updates)
                break
            }
            // end
            // block: sections
            let sections = try await context.fetch("book").sorted("category_id").live().sections(by: "category_id")
            for try await update in sections {
                for section in update.sections { print(section.value ?? "none", section.objects.count) }
                break
            }
            // end
            let person = try await context.fetch("person").where("surname = %@", "Smith").one()
            // block: observe
            for try await update in try await context.live(person, prefetch: "emailSet") {
                guard let person = update.objects.first else { break }  // its row is gone
                print(person["surname"] ?? "-", try await person.set(forKey: "emailSet").count)
                break
            }
            // end
        }
    }

    @Test(.shop) func comingBack() async throws {
        try await withTrackedShop { database, context in
            let books = try context.fetch("book").where("category.name == %@", "Poetry").sorted("title").limit(20)
            var lastEventID: String?
            for event in ["list", "unchanged"] {
                let given = try await events(books, lastEventID: lastEventID).first { _ in true }
                let lines = try #require(given).split(separator: "\n")
                #expect(lines[0] == "event: \(event)" && lines[2].hasSuffix(" books"))
                lastEventID = String(lines[1].dropFirst("id: ".count))
            }
            // block: comingBack
            // nil for a new client, and for a text that is no cursor
            let known = lastEventID.flatMap { LiveCursor($0) }
            for try await update in try await books.live(since: known) {
                switch update.cause {
                case .unchanged: print("the client has the list", update.cursor)
                case .change: print("the client takes", update.removals, update.insertions, update.cursor)
                case .first, .everything: print("the client needs the whole list", update.objects.count, update.cursor)
                }
                break
            }
            // end
        }
    }

    func events(
        _ books: FetchRequest<DatabaseObject>, lastEventID: String?
    ) async throws -> AsyncThrowingStream<String, any Error> {
        let updates = try await books.live(since: lastEventID.flatMap { LiveCursor($0) })
        let (events, stream) = AsyncThrowingStream<String, any Error>.makeStream()
        let beats = Task { while (try? await Task.sleep(for: .seconds(15))) != nil { stream.yield(":\n\n") } }
        let sender = Task {
            do {
                for try await update in updates {
                    let name = update.cause == .unchanged ? "unchanged" : "list"
                    stream.yield("event: \(name)\nid: \(update.cursor)\ndata: \(update.objects.count) books\n\n")
                }
            } catch { stream.finish(throwing: error) }
        }
        stream.onTermination = { _ in
            beats.cancel()
            sender.cancel()
        }
        return events
    }

    @Test(.shop) func changes() async throws {
        try await withTrackedShop { database, context in
            let writing = Self.writing(to: database)
            // block: changes
            let changes = try await context.changes(of: Person.self, Email.self)
            let start = try JSONEncoder().encode(changes.cursor)
            for try await element in changes {
                switch element {
                case .changes(let changes):
                    print(changes.inserted, changes.updated.keys, changes.deleted)
                case .everything(let reason, let entities, _):
                    print("to be read anew:", entities, reason)
                }
                break
            }
            // end
            #expect(try JSONDecoder().decode(ChangeCursor.self, from: start) == changes.cursor)
            func index(_ changes: ChangeBatch) async throws { #expect(!changes.updated.isEmpty) }
            // block: consumer
            for try await batch in try await context.changes(of: ["book"], consumer: "search-index") {
                try await context.transaction {
                    try await index(batch.changes)
                    try await batch.acknowledge()
                }
                break
            }
            // end
            writing.cancel()
        }
    }

    @Test(.shop) func contexts() async throws {
        try await withTrackedShop { database, context in
            // block: tracking
            let screen = database.makeContext(tracking: .automatic)
            let shown = try await screen.fetch("person").sorted("surname").all()
            try await database.tracking.catchUp()
            print(shown.map(\.isDeleted))
            // end
            try await database.query("UPDATE person SET firstname = 'Other' WHERE id = 1")
            try await database.tracking.catchUp()
            #expect(shown.first { $0["id"] == 1 }?["firstname"] == "Other")
        }
    }

    @Test(.shop) func schema() async throws {
        try await withTrackedShop { database, _ in
            let altering = Task {
                for number in 0..<100 {
                    try await Task.sleep(for: .milliseconds(200))
                    try await database.query("ALTER TABLE person ADD COLUMN \(identifier: "extra_\(number)") integer")
                }
            }
            // block: schema
            for try await entities in database.schemaChanges {
                print("changed:", entities)  // contexts made from now on have the new model
                break
            }
            // end
            altering.cancel()
        }
    }

    @Test(.shop) func locks() async throws {
        try await withTrackedShop { _, context in
            let people = try await context.fetch("person").limit(5).all()
            let person = try #require(people.first)
            // block: announce
            try await context.transaction {
                try await person.lock(announcing: "Ann, at the counter")
                try await person.setValue("Jo", forKey: "firstname")
            }
            // end
            // block: locks
            for try await update in try context.locks(of: "person") {
                for lock in update.held { print(lock.object, lock.text, lock.since) }
                break
            }
            // end
            // block: busy
            let busy = try await context.lockedObjects(among: people)
            // end
            #expect(busy == [])
        }
    }

    @Test(
        .database(
            """
            CREATE TABLE note (id bigint PRIMARY KEY, tenant integer NOT NULL, text text NOT NULL);
            INSERT INTO note VALUES (1, 7, 'x'), (2, 8, 'y');
            """))
    func tenants() async throws {
        let database = try await TestDatabase.current.connect()
        try await database.tracking.install()
        try await database.tracking.enable("note")
        let tenant = 7
        // block: tenants
        let screen = try database.makeContext(settings: ["app.tenant": tenant], tracking: .automatic)
        let newest = try screen.fetch("note").sorted("id", ascending: false).limit(10)
        for try await update in try await newest.live() {
            print(update.objects.count)  // notes of the tenant
            break
        }
        // end
        await database.close()
    }

    // MARK: Fixtures

    private func withTrackedShop(_ body: (Database, DatabaseContext) async throws -> Void) async throws {
        try await withShop { database, context, _ in
            try await database.tracking.install()
            try await database.tracking.enable(
                database.schema.entities.filter { $0.kind == .table }.map(\.name.description))
            try await body(database, context)
        }
    }

    /// Changes a person and a book again and again.
    private static func writing(to database: Database) -> Task<Void, any Error> {
        Task {
            while true {
                try await Task.sleep(for: .milliseconds(50))
                try await database.query("UPDATE person SET firstname = firstname || '.' WHERE id = 1")
                try await database.query("UPDATE book SET title = title || '.' WHERE id = 1")
            }
        }
    }

    private func eventually(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(20)) }
    }
}
