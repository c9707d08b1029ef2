import Kindred
import KindredLive
import KindredTesting
import TestSupport
import Testing

/// A playlist of a real database in two processes: this one holds its tracks live, psql changes them.
@Suite(
    .database(.sql(Chinook.sql ?? ""), timeLimit: .seconds(600)),
    .enabled(if: Chinook.sql != nil, "chinook.sql is not at hand"),
    .enabled("psql is not installed") { await Psql.isInstalled })
struct ChinookLiveTests {
    private static let tables = ["playlist", "playlist_track", "track"]

    private func withPlaylists(
        _ body: (_ context: DatabaseContext, _ other: PostgresClient, _ psql: Psql) async throws -> Void
    ) async throws {
        try await withDatabase { database, context, other in
            try await database.tracking.install()
            try await database.tracking.enable(Self.tables)
            try await body(context, other, try await Psql())
        }
    }

    /// The tracks of the playlists of a name, by name, as SQL gives them.
    private func tracks(of name: String, _ other: PostgresClient) async throws -> [Int64?] {
        try await other.query(
            """
            SELECT t.track_id::bigint FROM track AS t WHERE EXISTS (
                SELECT FROM playlist_track AS pt JOIN playlist AS p ON p.playlist_id = pt.playlist_id
                WHERE pt.track_id = t.track_id AND p.name = \(name))
            ORDER BY t.name, t.track_id
            """
        ).map { try $0.decode(0, as: Int64.self) }
    }

    /// Expects that an update is SQL's answer, and that its difference leads there from the last one.
    private func expect(
        _ update: LiveUpdate<DatabaseObject>, after last: [Int64?], changes count: Int, _ other: PostgresClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Int64?] {
        let now = update.integers("track_id")
        #expect(try await tracks(of: "Grunge", other) == now, sourceLocation: sourceLocation)
        var led = last
        for place in update.removals.reversed() { led.remove(at: place) }
        for place in update.insertions { led.insert(now[place], at: place) }
        #expect(led == now, sourceLocation: sourceLocation)
        #expect(update.removals.count + update.insertions.count == count, sourceLocation: sourceLocation)
        return now
    }

    @Test func psqlChangesAPlaylistsTracks() async throws {
        try await withPlaylists { context, other, psql in
            var updates = try await context.fetch("track").where("ANY playlistSet.name = %@", "Grunge").sorted("name")
                .live().makeAsyncIterator()
            let first = try await updates.update()
            var shown = first.integers("track_id")
            #expect(shown.count == 15)
            #expect(try await tracks(of: "Grunge", other) == shown)
            let gone = try #require(shown[3])
            // One transaction: a track leaves, and another comes.
            try await psql.run(
                """
                DELETE FROM playlist_track WHERE playlist_id = 16 AND track_id = \(gone);
                INSERT INTO playlist_track SELECT 16, min(track_id) FROM track WHERE track_id NOT IN (
                    SELECT track_id FROM playlist_track WHERE playlist_id = 16)
                """)
            var update = try await updates.update()
            #expect(update.removals == [3] && update.removedIDs.map(\.values) == [[.integer(gone)]])
            #expect(update.cause == .change && update.updates == [] && update.moves == [])
            shown = try await expect(update, after: shown, changes: 2, other)
            // A new name moves a track along.
            let last = try #require(shown.last ?? nil)
            try await psql.run("UPDATE track SET name = 'AAAA ' || name WHERE track_id = \(last)")
            update = try await updates.update()
            #expect(update.moves.map(\.to) == [0] && update.updates == [0])
            shown = try await expect(update, after: shown, changes: 2, other)
            // Changes that concern no track of the list give no update.
            try await psql.run("UPDATE playlist_track SET track_id = track_id WHERE playlist_id = 16")
            try await psql.run("DELETE FROM playlist_track WHERE playlist_id = 17")
            try await psql.run("UPDATE playlist SET name = 'Rock' WHERE playlist_id = 16")
            update = try await updates.update()
            #expect(update.objects.isEmpty && update.removedIDs.count == 15)
            shown = try await expect(update, after: shown, changes: 15, other)
            // Another playlist takes the name.
            try await psql.run("UPDATE playlist SET name = 'Grunge' WHERE playlist_id = 9")
            update = try await updates.update()
            _ = try await expect(update, after: shown, changes: update.objects.count, other)
            #expect(!update.objects.isEmpty)
        }
    }

    @Test func psqlChangesWhatAPlaylistHasPrefetched() async throws {
        try await withPlaylists { context, other, psql in
            var updates = try await context.fetch("playlist").where("playlist_id = %@", 16).prefetch("trackSet").live()
                .makeAsyncIterator()
            let playlist = try #require(try await updates.update().objects.first)
            func names() async throws -> [String] {
                try await withStatementLimit(0) { try await playlist.set(forKey: "trackSet").objects }
                    .map { $0["name"]?.description ?? "-" }.sorted()
            }
            let before = try await names()
            #expect(before.count == 15)
            try await psql.run("INSERT INTO playlist_track VALUES (16, 1)")
            var update = try await updates.update()
            #expect(update.updates == [0] && update.objects.first === playlist)
            #expect(try await names().count == 16)
            try await psql.run("UPDATE track SET name = 'psql was here' WHERE track_id = 1")
            update = try await updates.update()
            #expect(update.updates == [0])
            #expect(try await names().contains("psql was here"))
            try await psql.run("DELETE FROM playlist_track WHERE playlist_id = 16 AND track_id = 1")
            update = try await updates.update()
            #expect(update.updates == [0])
            #expect(try await names() == before)
        }
    }
}
