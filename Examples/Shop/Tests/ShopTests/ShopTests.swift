import Foundation
import Hummingbird
import HummingbirdTesting
import Kindred
import KindredLive
import KindredTesting
import ShopModels
import ShopServer
import Testing

@Suite(.database(.migrations("../../Migrations")))
struct ShopTests {
    @Test func pagesHoldEachBookOnce() async throws {
        try await withShop { client, other in
            var seen: [Int] = []
            var next: String? = ""
            while let cursor = next {
                let after = cursor.isEmpty ? "" : "&after=\(cursor)"
                next = try await client.execute(uri: "/books?limit=60\(after)", method: .get) {
                    (response) async throws in
                    #expect(response.status == .ok)
                    let page = try response.json
                    seen += (page["books"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int }
                    return page["next"] as? String
                }
            }
            #expect(try await other.number("SELECT count(*) FROM book") == seen.count)
            #expect(Set(seen).count == seen.count)
        }
    }

    @Test func aForgedCursorIsRefused() async throws {
        try await withShop { client, _ in
            for cursor in ["x", "AAAA", "%00", String(repeating: "A", count: 4_000)] {
                try await client.execute(uri: "/books?after=\(cursor)", method: .get) { (response) async throws in
                    #expect(response.status == .unprocessableContent)
                }
            }
        }
    }

    @Test func aWriteGivesTheClientATokenForItsNextRequest() async throws {
        try await withShop { client, _ in
            let email = ByteBuffer(string: #"{"address": "token@example.org"}"#)
            try await client.execute(uri: "/people/1/emails", method: .post, body: email) { (response) async throws in
                #expect(response.status == .created, "\(String(buffer: response.body))")
                #expect(response.headers[.setCookie]?.hasPrefix("database-position=") == true)
            }
            // Nothing was written.
            try await client.execute(uri: "/people/1", method: .get) { (response) async throws in
                #expect(response.status == .ok && response.headers[.setCookie] == nil)
            }
        }
    }

    @Test func aPurchaseIsStoredWithItsLines() async throws {
        try await withShop { client, other in
            let before = try await other.number("SELECT copies FROM stock WHERE store_id = 4 AND book_id = 3")
            let order = #"{"buyer": 5, "lines": [{"book": 3, "copies": 2}, {"book": 10, "copies": 1}]}"#
            let number = try await client.execute(
                uri: "/stores/4/purchases", method: .post, body: ByteBuffer(string: order)
            ) { (response) async throws in
                #expect(response.status == .created, "\(String(buffer: response.body))")
                return try #require(try response.json["number"] as? Int)
            }
            let lines = try await other.number(
                "SELECT count(*) FROM purchase_line WHERE store_id = 4 AND purchase_number = \(number)")
            #expect(lines == 2)
            #expect(try await other.number("SELECT copies FROM stock WHERE store_id = 4 AND book_id = 3") == before - 2)
            try await client.execute(uri: "/stores/4/purchases/\(number)", method: .get) { (response) async throws in
                let json = try response.json
                #expect((json["lines"] as? [Any])?.count == 2)
            }
        }
    }

    @Test func aPurchaseOfAnUnknownBuyerIsRefused() async throws {
        try await withShop { client, other in
            let before = try await other.number("SELECT count(*) FROM purchase")
            let order = #"{"buyer": 999999, "lines": [{"book": 3, "copies": 1}]}"#
            try await client.execute(uri: "/stores/4/purchases", method: .post, body: ByteBuffer(string: order)) {
                #expect($0.status == .notFound)
            }
            #expect(try await other.number("SELECT count(*) FROM purchase") == before)
        }
    }

    @Test func aPurchaseOfTooManyCopiesChangesNothing() async throws {
        try await withShop { client, other in
            let before = try await other.number("SELECT sum(copies) FROM stock")
            let order = #"{"lines": [{"book": 3, "copies": 1}, {"book": 10, "copies": 1000}]}"#
            try await client.execute(uri: "/stores/4/purchases", method: .post, body: ByteBuffer(string: order)) {
                #expect($0.status == .conflict)
            }
            #expect(try await other.number("SELECT sum(copies) FROM stock") == before)
        }
    }

    @Test func aChangeOfAnOlderVersionIsAConflict() async throws {
        try await withShop { client, other in
            let tag = try await client.execute(uri: "/books/3", method: .get) { try #require($0.headers[.eTag]) }
            let change = ByteBuffer(string: #"{"title": "A New Title"}"#)
            try await client.execute(uri: "/books/3", method: .patch, headers: [.ifMatch: tag], body: change) {
                #expect($0.status == .ok)
                #expect($0.headers[.eTag] != tag)
            }
            try await client.execute(uri: "/books/3", method: .patch, headers: [.ifMatch: tag], body: change) {
                #expect($0.status == .conflict)
            }
            #expect(try await other.number("SELECT version FROM book WHERE id = 3") == 2)
        }
    }

    @Test func whatDoesNotFitIsNamed() async throws {
        try await withShop { client, other in
            let before = try await other.number("SELECT count(*) FROM email")
            let body = ByteBuffer(string: #"{"address": "no address"}"#)
            try await client.execute(uri: "/people/1/emails", method: .post, body: body) { (response) async throws in
                #expect(response.status == .unprocessableContent)
                let problems = try response.json["problems"] as? [[String: Any]] ?? []
                #expect(problems.map { $0["key"] as? String } == ["address"], "\(String(buffer: response.body))")
            }
            #expect(try await other.number("SELECT count(*) FROM email") == before)
        }
    }

    @Test func eventsFollowChanges() async throws {
        let database = try await TestDatabase.current.connect(classes: KindredModels.all)
        try await prepareLiveRoutes(database)
        let shop = makeShop(database: database)
        let file = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await shop.test(.live) { client in
            let port = try #require(client.port)
            let curl = try Self.curl("http://127.0.0.1:\(port)/live/books?category=Poetry", into: file)
            defer { if curl.isRunning { curl.terminate() } }
            try await Self.eventually("the books do not come") { Self.events(in: file).count == 1 }
            try await database.query(
                """
                UPDATE book SET title = 'A Title of Now' WHERE id = (
                    SELECT min(b.id) FROM book AS b JOIN category AS c ON c.id = b.category_id WHERE c.name = 'Poetry')
                """)
            try await Self.eventually("the change does not come") { Self.events(in: file).count == 2 }
            curl.terminate()
            try await Self.eventually("a client that is gone is still served") {
                database.tracking.metrics.liveRequests == 0
            }
        }
        let events = Self.events(in: file)
        #expect(events.map(\.first) == ["event: list", "event: change"])
        #expect(events.allSatisfy { $0.count == 3 && $0[1].hasPrefix("id: ") && $0[2].hasPrefix("data: {") })
        #expect(events.first?.last?.contains("A Title of Now") == false)
        #expect(events.last?.last?.contains("A Title of Now") == true)
        // As a browser does that has lost the connection.
        let shown = try events.map { try #require($0.dropFirst().first).dropFirst("id: ".count) }.map(String.init)
        try await makeShop(database: database).test(.live) { client in
            let port = try #require(client.port)
            for (cursor, expected) in zip(shown, ["event: change", "event: unchanged"]) {
                let file = file.appendingPathExtension("again")
                defer { try? FileManager.default.removeItem(at: file) }
                let curl = try Self.curl(
                    "http://127.0.0.1:\(port)/live/books?category=Poetry", headers: ["Last-Event-ID: \(cursor)"],
                    into: file)
                defer { if curl.isRunning { curl.terminate() } }
                try await Self.eventually("nothing comes") { !Self.events(in: file).isEmpty }
                #expect(Self.events(in: file).first?.first == expected)
            }
        }
        await database.close()
    }

    @Test func thePageShowsTheEvents() async throws {
        try await withShop { client, _ in
            try await client.execute(uri: "/live", method: .get) { (response) async throws in
                #expect(response.status == .ok && response.headers[.contentType]?.hasPrefix("text/html") == true)
                #expect(String(buffer: response.body).contains("new EventSource(\"live/books\""))
            }
        }
    }

    /// Keeps what the server sends, until the process is ended.
    private static func curl(_ url: String, headers: [String] = [], into file: URL) throws -> Process {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "--silent", "--no-buffer", "--max-time", "300", "--output", file.path, url]
        curl.arguments? += headers.flatMap { ["--header", $0] }
        try curl.run()
        return curl
    }

    /// The lines of the events that were kept so far.
    private static func events(in file: URL) -> [[String]] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.components(separatedBy: "\n\n").dropLast().map { $0.components(separatedBy: "\n") }
            .filter { $0 != [":"] }
    }

    /// Waits until a condition holds, at most two minutes.
    private static func eventually(_ comment: Comment, _ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while !condition() {
            guard ContinuousClock.now < end else {
                Issue.record(comment)
                return
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func titlesAreChanged() async throws {
        try await withShop { client, other in
            let titles = ByteBuffer(string: #"["Captain", "Sir"]"#)
            try await client.execute(uri: "/people/1/titles", method: .put, body: titles) { (response) async throws in
                #expect(response.status == .ok)
                let json = try response.json
                #expect((json["titles"] as? [Any])?.count == 2)
            }
            #expect(try await other.number("SELECT count(*) FROM person_title_rel WHERE person_id = 1") == 2)
        }
    }

    @Test func aShopWindowHasTheNewestBooksOfEachCategory() async throws {
        try await withShop { client, other in
            let categories = try await expectStatements(2) {
                try await client.execute(uri: "/categories", method: .get) { (response) async throws in
                    #expect(response.status == .ok, "\(String(buffer: response.body))")
                    return try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [[String: Any]] ?? []
                }
            }
            #expect(try await other.number("SELECT count(*) FROM category") == categories.count)
            for category in categories {
                let id = try #require(category["id"] as? Int)
                let books = try #require(category["books"] as? [[String: Any]]).compactMap { $0["id"] as? Int }
                let expected = try await other.query(
                    """
                    SELECT id FROM book
                    WHERE category_id = \(id) AND id IN (SELECT book_id FROM stock WHERE copies > 0)
                    ORDER BY published DESC, id LIMIT 3
                    """
                ).map { try $0.decode(0, as: Int.self) }
                #expect(books == expected)
            }
        }
    }

    @Test func aDeletionShowsItsPlanAndIsRefused() async throws {
        try await withShop { client, other in
            try await client.execute(uri: "/books/3?dryRun=true", method: .delete) { (response) async throws in
                #expect(response.status == .ok)
                let json = try response.json
                let items = json["items"] as? [[String: Any]] ?? []
                #expect(items.contains { $0["entity"] as? String == "public.stock" })
            }
            try await client.execute(uri: "/books/3", method: .delete) { #expect($0.status == .conflict) }
            #expect(try await other.number("SELECT count(*) FROM book WHERE id = 3") == 1)
        }
    }

    @Test func anExportHasEachLine() async throws {
        try await withShop { client, other in
            let lines = try await client.execute(uri: "/export/purchases.csv", method: .get) {
                (response) async throws in
                #expect(response.status == .ok)
                return String(buffer: response.body).split(separator: "\r\n").count
            }
            let rows = try await other.number("SELECT count(*) FROM purchase_line")
            #expect(lines == rows + 1)
        }
    }

    @Test func healthAndMetricsAnswer() async throws {
        try await withShop { client, _ in
            try await client.execute(uri: "/health", method: .get) { #expect($0.status == .ok) }
            try await client.execute(uri: "/metrics", method: .get) {
                #expect(String(buffer: $0.body).contains("kindred_connections"))
            }
            try await client.execute(uri: "/nothing", method: .get) { #expect($0.status == .notFound) }
            try await client.execute(uri: "/books/999999", method: .get) { #expect($0.status == .notFound) }
        }
    }
}
