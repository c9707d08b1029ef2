import DemoModels
import Foundation
import Kindred
import KindredTesting
import Testing

/// The examples of the articles on JSON and on serving requests.
@Suite struct ServerTests {
    @Test(.shop) func objectsAndViews() async throws {
        try await withShop { database, context, sent in
            // block: object
            let book = try await context.fetch("book").where("id = 1").one()
            let data = try JSONEncoder().encode(book)
            // end
            #expect(String(decoding: data, as: UTF8.self).contains("\"category_id\":"))
            sent.take()
            // block: views
            let books = try await context.fetch("book").sorted("id").limit(2)
                .views("title", "price", "category.name", "authors.name")
            let page = try JSONEncoder().encode(books)
            // end
            sent.expectCount(3)
            #expect(String(decoding: page, as: UTF8.self).contains("\"authors\":[{\"name\":"))
            // block: views-omitting
            let short = try await context.fetch("book").views("*", "authors.*", omitting: ["keywords", "authors.born"])
            // end
            sent.expectCount(2)
            #expect(short.count > 100 && short[0]["title"] != nil && short[0]["keywords"] == nil)
            // block: views-of
            let chosen = try await context.find("book", [1, 2, 3])
            let list = try await context.views(of: chosen, "title", "authors.name")
            // end
            #expect(list.count == 3 && list[0]["title"] == chosen[0]["title"])
            sent.take()
            // block: parts
            let shelves = try await context.fetch("category")
                .prefetch("bookSet") { $0.sorted("published", ascending: false).limit(3) }
                .views("name", "bookSet.title")
            let signed = try await context.views(of: chosen, "title", "authors.name") {
                $0.prefetch("authors") { $0.limit(1) }
            }
            // end
            sent.expectCount(3)
            #expect(shelves.count > 1 && signed.count == 3)
            // block: names
            let encoder = JSONEncoder()
            encoder.userInfo[.jsonKeys] = DatabaseObject.JSONKeys.properties
            let named = try encoder.encode(book)
            let views = try await context.fetch(Book.self).views("categoryID", "category.name", keys: .properties)
            // end
            #expect(String(decoding: named, as: UTF8.self).contains("\"categoryID\":"))
            #expect(views.first?["categoryID"] != nil)
            sent.take()
            // block: typed-views
            let stocked = try await context.fetch(Book.self)
                .views(\.self, \.category, \.stocks, omitting: [\.keywords, \.category.parentID, \.stocks.bookID])
            let first = try await context.get(Book.self, 1).view(\.title, \.stocks.copies) {
                $0.prefetch(\.stocks) { $0.where { $0.copies > 5 }.limit(2) }
            }
            // end
            // The first book is in memory.
            sent.expectCount(4)
            #expect(first["title"] == book["title"])
            let texts = [try JSONEncoder().encode(stocked), try JSONEncoder().encode(first)].map {
                String(decoding: $0, as: UTF8.self)
            }
            #expect(
                texts[0].contains("\"isbn\":") && texts[0].contains("\"copies\":")
                    && !texts[0].contains("\"keywords\":"))
            #expect(!texts[0].contains("\"book_id\":"))
            #expect(!texts[0].contains("\"parent_id\":") && !texts[1].contains("\"store_id\":"))
        }
    }

    @Test(.shop) func patches() async throws {
        try await withShop { database, context, sent in
            let book = try #require(try await context.find("book", 1))
            let body = Data(#"{"title": "New", "price": 12.5}"#.utf8)
            // block: patch
            let patch = try ObjectPatch(json: body)
            try book.apply(patch, allowing: ["title", "price"])
            try await context.save()
            // end
            #expect(book["title"] == "New" && book["price"] == .numeric(12.5))
            let price = try ObjectPatch(json: #"{"price": 9.999}"#.utf8)
            #expect(throws: KindredError.self) { try book.apply(price) }
            // block: rounding
            try book.apply(price, allowing: ["price"], rounding: true)
            // end
            #expect(book["price"] == .numeric(10))
            let new = try ObjectPatch(
                json: #"{"isbn": "1", "title": "x", "published": "2024-01-01", "price": 1, "category_id": 1}"#.utf8)
            try context.add("book", new)
            try await context.save()
        }
    }

    @Test(.shop) func rowsOfRawSQL() async throws {
        try await withShop { database, context, sent in
            // block: rows
            struct Turnover: Decodable {
                let city: String
                let booksSold: Int
                let total: PostgresNumeric
            }
            let turnover = try await context.query(
                """
                SELECT s.city, sum(l.copies) AS books_sold, sum(l.amount) AS total
                FROM purchase_line AS l JOIN store AS s ON s.id = l.store_id GROUP BY s.city ORDER BY s.city
                """, as: Turnover.self)
            // end
            #expect(!turnover.isEmpty && turnover.allSatisfy { $0.booksSold > 0 && $0.total > 0 && !$0.city.isEmpty })
            // block: objects
            let found = try await context.query(
                "SELECT b.* FROM book AS b WHERE b.price > (SELECT avg(price) FROM book) ORDER BY b.id", as: Book.self)
            // end
            #expect(!found.isEmpty && found.allSatisfy { $0.price > 0 })
        }
    }

    @Test(.shop) func pagesOverHTTP() async throws {
        try await withShop { database, context, sent in
            // block: cursor
            let request = try context.fetch("book").sorted("title")
            let first = try await request.page(size: 20)
            let link = first.next.map { "/books?after=\($0.text)" }
            // end
            // block: order
            let sorted = try context.fetch("book").sorted(
                by: "-price,title", allowing: ["title", "price", "category.name"])
            let typed = try context.fetch(Book.self).sorted(by: "-price,title", allowing: [\.title, \.price])
            // end
            #expect(try sorted.sql == typed.sql)
            let after = try #require(link?.split(separator: "=").last)
            // block: after
            let next = try await request.page(size: 20, after: try PageCursor(after))
            // end
            #expect(!next.objects.isEmpty && next.objects[0] !== first.objects[0])
        }
    }

    @Test(.shop) func versions() async throws {
        try await TestDatabase.current.connect().query(
            "COMMENT ON TABLE stock IS '@kindred {\"optimisticLocking\": \"xmin\"}'")
        try await withShop { database, context, sent in
            let stock = try #require(try await context.fetch("stock").first())
            // block: etag
            let etag = stock.rowVersion
            // end
            let ifMatch = try #require(etag)
            // block: if-match
            try stock.expect(version: ifMatch)
            stock["copies"] = 7
            try await context.save()
            // end
            #expect(throws: KindredError.self) { try stock.expect(version: ifMatch) }

            // Another client is in between.
            _ = try await database.query("UPDATE stock SET copies = copies + 1")
            let patch = try ObjectPatch(json: #"{"copies": 3}"#.utf8)
            // block: patch-retry
            try await context.save(retry: .attempts(5)) {
                try stock.apply(patch, allowing: ["copies"])
            }
            // end
            #expect(stock["copies"] == 3 && stock.rowVersion != ifMatch)
        }
    }

    // block: status
    func status(of error: any Error) -> Int {
        (error as? any CategorizedError)?.category.httpStatus ?? 500
    }
    // end

    // block: again
    func mayTryAgain(after error: any Error) -> Bool {
        guard let error = error as? any CategorizedError else { return false }
        return error.category == .unavailable && !error.mayHaveTakenEffect
    }
    // end

    @Test(.shop) func errors() async throws {
        try await withShop { database, context, sent in
            // block: hook
            try database.addHooks(
                ObjectHooks(validate: { book in
                    if book["title"] == "" { throw ValidationError("A book has a title", key: "title") }
                }), to: "book")
            // end
            let book = try #require(try await context.find(Book.self, 1))
            book.title = ""
            do {
                try await context.save()
                Issue.record("no error")
            } catch let error as KindredError {
                #expect(status(of: error) == 422 && error.problems.first?.property == "title")
                #expect(!mayTryAgain(after: error) && !error.mayHaveTakenEffect)
                // block: problems
                for problem in error.problems {
                    print(problem.property ?? problem.key ?? "-", problem.message)
                }
                // end
            }
        }
    }

    @Test(.shop) func numbers() async throws {
        try await withShop { database, context, sent in
            let book = try #require(try await context.find(Book.self, 1))
            // block: numbers
            book.price = 19.99
            let total = (book.price * 3 * 1.19).rounded(toScale: 2)
            let cheap = try await context.fetch(Book.self).where { $0.price * 2 < 9.5 }.count()
            // end
            #expect(total.description == "71.36" && cheap >= 0)
        }
    }

    @Test(.shop) func aClassThatIsNotSendable() async throws {
        try await withShop { database, context, sent in
            let importer = Importer(context: context)
            try await importer.add(["A", "B"])
            #expect(importer.count == 2)
            try await importer.addLater(["C"]).value
            #expect(try await context.fetch("title").where("name IN {'A', 'B', 'C'}").count() == 3)
        }
    }
}

// block: importer
final class Importer {
    let context: DatabaseContext
    var count = 0

    init(context: DatabaseContext) { self.context = context }

    func add(_ names: [String]) async throws {
        try await context.transaction {
            for name in names {
                try await context.create("title", ["name": name])
                count += 1
            }
        }
    }
    // block: later
    func addLater(_ names: [String]) -> Task<Void, any Error> {
        let context = context
        return Task {
            try await context.transaction {
                for name in names { try await context.create("title", ["name": name]) }
            }
        }
    }
}
// end
