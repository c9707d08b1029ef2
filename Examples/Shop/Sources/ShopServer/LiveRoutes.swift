import Foundation
import Hummingbird
import Kindred
import KindredHummingbird
import KindredLive
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
    /// change; a browser that comes back gets what it lacks.
    @Sendable func books(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        // A live request has a context of its own: it outlives this handler.
        var books = try database.makeContext().fetch(Book.self).prefetch(\.authors).sorted { $0.title }
        if let category = request.uri.queryParameters.get("category") {
            books = try books.where { $0.category.name == category }
        }
        return try await LiveEvents(books, for: request, atMostEvery: .milliseconds(100)) { update in
            try BookEvent(update).text
        }.response
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
        const events = new EventSource("live/books" + location.search)
        for (const name of ["list", "change"]) events.addEventListener(name, ({ data }) => {
          const { books, changed } = JSON.parse(data)
          document.getElementById("books").replaceChildren(...books.map((book, place) => {
            const line = document.createElement("li")
            line.textContent = `${book.title}, ${book.authors.join(" and ")}: ${book.price}`
            if (changed.includes(place)) line.className = "changed"
            return line
          }))
        })
        </script>
        """
}

/// An update as the data of a server-sent event.
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
            String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        }
    }
}

/// Records the changes that the live page follows; may be called each time that the server starts.
public func prepareLiveRoutes(_ database: Database) async throws {
    try await database.tracking.install()
    try await database.tracking.enable(LiveRoutes.tables)
}
