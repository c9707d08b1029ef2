import Foundation
import Hummingbird
import Kindred
import KindredLive
import NIOCore
import ServiceLifecycle
import ShopModels

/// `/live`: a page of books that stays right, whoever changes them, and the events behind it.
struct LiveRoutes {
    /// The tables whose changes are recorded, for what the page shows.
    static let tables = ["book", "author", "book_author", "category"]

    let database: Database

    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get(use: page)
        group.get("books", use: books)
    }

    /// `GET /live/books?category=Poetry`: server-sent events, the first with the books as they are, each further one after a
    /// change.
    ///
    /// Clients that ask for the same share one evaluation. A slow client gets fewer events, and delays no other.
    @Sendable func books(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        // A live request has a context of its own: it outlives this handler.
        var books = try database.makeContext().fetch(Book.self).prefetch(\.authors).sorted { $0.title }
        if let category = request.uri.queryParameters.get("category") {
            books = try books.where { $0.category.name == category }
        }
        let live = try await books.live(atMostEvery: .milliseconds(100))
        // Objects change while the next update is asked for, so that each becomes text at once.
        let events = live.map { try BookEvent($0).text }.cancelOnGracefulShutdown()
        let body = ResponseBody { writer in
            // A client that goes ends it at once; a write would notice that at the next change only.
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                for try await event in events { try await writer.write(ByteBuffer(string: event)) }
            }
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-cache"]
        return Response(status: .ok, headers: headers, body: body)
    }

    /// `GET /live`: shows the events.
    @Sendable func page(_ request: Request, _ context: ShopRequestContext) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: Self.html)))
    }

    private static let html = """
        <!doctype html>
        <title>Books, live</title>
        <style>li.changed { background: gold; transition: background 2s }</style>
        <ul id="books"></ul>
        <script>
        new EventSource("live/books" + location.search).onmessage = ({ data }) => {
          const { books, changed } = JSON.parse(data)
          document.getElementById("books").replaceChildren(...books.map((book, place) => {
            const line = document.createElement("li")
            line.textContent = `${book.title}, ${book.authors.join(" and ")}: ${book.price}`
            if (changed.includes(place)) line.className = "changed"
            return line
          }))
        }
        </script>
        """
}

/// An update as a server-sent event.
private struct BookEvent: Encodable {
    struct Line: Encodable {
        let id: Int
        let title: String
        let price: String
        let authors: [String]
    }

    let books: [Line]
    /// The places of books that are new or have changed.
    let changed: [Int]

    init(_ update: LiveUpdate<Book>) {
        books = update.objects.map { book in
            Line(
                id: book.id, title: book.title, price: book.price.description,
                authors: book.authors.loaded.map(\.name))
        }
        changed = Set(update.insertions).union(update.updates).sorted()
    }

    var text: String {
        get throws {
            let json = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
            return "data: \(json)\n\n"
        }
    }
}

/// Records the changes that the live page follows; may be called each time that the server starts.
public func prepareLiveRoutes(_ database: Database) async throws {
    try await database.tracking.install()
    try await database.tracking.enable(LiveRoutes.tables)
}
