import DemoModels
import Foundation
import Kindred
import KindredTesting
import Synchronization
import Testing

/// New rows by the generated `new`, whose parameters are columns and objects.
@Suite struct TypedInsertTests {
    @Test(.database(.file("../../../sql/demo.sql"))) func requiredValuesAreParameters() async throws {
        try await withModels { database, context in
            let (line, recorder) = try await recordingStatements {
                let category = try context.add(Category.new(name: "Sheet music"))
                let book = try context.add(
                    Book.new(isbn: "978-0", title: "Songs", published: .today, price: 9, category: category))
                let store = try context.add(Store.new(city: "Rome", opened: .today))
                let purchase = try context.add(Purchase.new(number: 1, status: .paid, store: store))
                let stock = try context.add(Stock.new(copies: 3, book: book, store: store))
                let line = try context.add(PurchaseLine.new(line: 1, price: 9, purchase: purchase, stock: stock))
                #expect(line.isInserted && line.price == 9 && line.copies == 0)
                try await context.save()
                return line
            }
            // Each table once, in one transaction.
            #expect(recorder.statements.filter { $0.hasPrefix("INSERT") }.count == 6)
            #expect(line.copies == 1 && line.amount == 9 && line.storeID > 0)
            let again = try await context.create(
                Book.new(
                    isbn: "978-1", title: "More songs", published: .today, price: 8, keywords: ["a"], category: .key(1))
            )
            #expect(again.keywords == ["a"] && again.categoryID == 1)
            let person = try #require(try await context.find(Person.self, 1))
            let email = try await context.create(Email.new(address: "new@example.org", person: person))
            #expect(email.personID == 1)
            await expectError(.constraintViolation) {
                try await context.create(Email.new(address: "no address", person: .key(1)))
            }
        }
    }

    /// Each as it is at hand.
    @Test(.database(.file("../../../sql/demo.sql"))) func foreignKeysAreGivenAsKeysOrAsObjects() async throws {
        try await withModels { _, context in
            let store = try await context.create(Store.new(city: "Rome", opened: .today))
            let person = try #require(try await context.find(Person.self, 1))
            let book = try #require(try await context.find(Book.self, 1))
            let purchase = try await context.create(
                Purchase.new(number: 1, status: .paid, store: .key(store.id), buyer: .key(1)))
            #expect(purchase.storeID == store.id && purchase.buyerID == 1)
            #expect(try await purchase.buyer.object === person)
            let stock = try context.add(Stock.new(copies: 3, book: book, store: .key(store.id)))
            // The two keys share a column.
            let line = try context.add(
                PurchaseLine.new(line: 1, price: 9, purchase: .key(store.id, 1), stock: stock))
            let other = try context.add(
                PurchaseLine.new(
                    line: 2, price: 9, purchase: .key(store.id, 1), stock: .key(store.id, book.id)))
            try await context.save()
            #expect(line.storeID == store.id && other.bookID == book.id)
            #expect(try await other.purchase.object === purchase)
            await expectError(.wrongType) {
                try context.add(
                    PurchaseLine.new(
                        line: 3, price: 9, purchase: .key(store.id, 1), stock: .key(store.id + 1, book.id)))
            }
            let nobody: Person? = nil
            let email = try context.add(Email.new(address: "a@example.org", person: nobody))
            #expect(email.personID == nil)
            await expectError(.constraintViolation) {
                try await context.create(Email.new(address: "b@example.org", person: .key(4_711)))
            }
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func rowsWithAKeyThatIsThereAreUpdated() async throws {
        try await withModels { database, context in
            let (rows, recorder) = try await recordingStatements {
                try await context.upsert(
                    [Store.new(id: 1, city: "Ulm", opened: .today), Store.new(id: 99, city: "Bonn", opened: .today)],
                    on: "id")
            }
            #expect(recorder.statements.count == 1 && rows.map(\.city) == ["Ulm", "Bonn"])
            let one = try await context.upsert(
                Store.new(id: 99, city: "Mainz", opened: .today), on: "id")
            #expect(one === rows[1] && one.city == "Mainz")
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func hooksSeeANewObjectWithoutItsValues() async throws {
        try await withModels { database, context in
            let seen = SeenNames()
            try database.addHooks(
                ObjectHooks(awakeFromInsert: { object in
                    seen.add((object as? Author)?.name ?? "-")
                    object["born"] = .date(.today)
                }), to: "author")
            let author = try context.add(Author.new(name: "Zoe"))
            #expect(seen.names == [""] && author.name == "Zoe" && author.born == .today)
            let other = try context.add(Author.new(name: "Yan", born: PostgresDate(year: 1990, month: 1, day: 2)))
            #expect(other.born == PostgresDate(year: 1990, month: 1, day: 2))
            try await context.save()
            let count = try await database.query("SELECT count(*) FROM author WHERE name IN ('Zoe', 'Yan')")
            #expect(try count[0][0] == 2)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func linksOfNewObjectsAreShown() async throws {
        try await withModels { _, context in
            let category = try #require(try await context.find(Category.self, 1))
            let count = try await category.books.count
            let book = try context.add(
                Book.new(isbn: "978-2", title: "Seen", published: .today, price: 1, category: category))
            #expect(try await category.books.count == count + 1)
            #expect(try await category.books.contains(book))
            book.rollback()
            #expect(try await category.books.count == count)
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func viewsAndPatchesTakeKeyPaths() async throws {
        try await withModels { _, context in
            let request = try context.fetch(Book.self).where { $0.id == 1 }
            let (views, recorder) = try await recordingStatements {
                try await request.views(\.title, \.category.name, \.authors.name)
            }
            #expect(recorder.statements.count == 3)
            let named = try await request.views("title", "category.name", "authors.name")
            func text(_ views: [ObjectView]) throws -> String {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(views), as: UTF8.self)
            }
            #expect(try text(views) == text(named))
            let book = try await request.one()
            let view = try await book.view(\.categoryID, \.category, keys: .properties)
            #expect(view["categoryID"] == .integer(Int64(book.categoryID)))
            let all = try await book.view(\.self, \.authors, omitting: [\.keywords, \.authors.born])
            let same = try await book.view("*", "authors", omitting: ["keywords", "authors.born"])
            #expect(try text([all]) == text([same]) && all["isbn"] != nil && all["keywords"] == nil)
            let (shelves, shelvesRecorder) = try await recordingStatements {
                try await context.views(of: [book], \.title, \.stocks.copies) {
                    $0.prefetch(\.stocks) { $0.where { $0.copies > 5 }.limit(1) }
                }
            }
            #expect(shelvesRecorder.statements.count == 1)
            #expect(try text(shelves).components(separatedBy: "copies").count == 2)
            let page = try await request.page(size: 1)
            #expect(try await page.views(\.title).count == 1)
            let patch = try ObjectPatch(json: #"{"title": "New"}"#.utf8)
            try book.apply(patch, allowing: [\.title])
            #expect(book.title == "New")
            await expectError(.unknownKey) { try book.apply(patch, allowing: [\.price]) }
            await expectError(.unknownKey) { try book.apply(patch, allowing: [\.isDeleted]) }
            await expectError(.unknownKey) { _ = try await request.views(\.isDeleted) }
            let new = try context.add(Book.self, patch, allowing: [\.title])
            #expect(new.title == "New" && new.isInserted)
        }
    }
}

private final class SeenNames: Sendable {
    private let list = Mutex<[String]>([])
    var names: [String] { list.withLock { $0 } }
    func add(_ name: String) { list.withLock { $0.append(name) } }
}
