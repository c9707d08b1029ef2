import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// A table of 1,600 columns, which is the most that the server allows.
@Suite(.database(.sql("CREATE TABLE small (id integer PRIMARY KEY)")), .timeLimit(.minutes(10))) struct WideTableTests {
    private static let columns = 1_600

    @Test func itIsEnabledAndFollowed() async throws {
        try await withDatabase { database, _, other in
            let columns = (1..<Self.columns).map { "c\($0) integer" }.joined(separator: ", ")
            try await other.runScript("CREATE TABLE wide (id integer PRIMARY KEY, \(columns))")
            try await database.refreshSchema()
            try await database.tracking.install()
            try await database.tracking.enable("wide")
            let context = database.makeContext()
            var changes = try await context.changes(of: "wide").makeAsyncIterator()
            var list = try await context.fetch("wide").sorted("id").only("c1599").live().makeAsyncIterator()
            _ = try await list.update()
            // One row, several rows, and a key that moves.
            try await other.query("INSERT INTO wide (id, c1599) VALUES (1, 1), (2, 2)")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: ["wide 1", "wide 2"], updated: [:], deleted: []))
            #expect(try await list.update().integers("c1599") == [1, 2])
            try await other.query("UPDATE wide SET c1 = 5 WHERE id = 1")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: ["wide 1": ["c1"]], deleted: []))
            try await other.query("UPDATE wide SET c1599 = 7, c800 = 3")
            // The server compares no two rows of so many columns beside their places: which rows have changed is not named.
            #expect(try await changes.seen(database) == .everything(.unrecorded, ["wide"]))
            #expect(try await list.update().integers("c1599") == [7, 7])
            try await other.query("UPDATE wide SET id = 3 WHERE id = 2")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: ["wide 3"], updated: [:], deleted: ["wide 2"]))
            try await other.query("DELETE FROM wide")
            #expect(
                try await changes.seen(database)
                    == .changes(inserted: [], updated: [:], deleted: ["wide 1", "wide 3"]))
        }
    }
}
