import Hummingbird
import Kindred
import ShopModels

/// `/stores/1/purchases`: a purchase and its lines are stored together or not at all.
///
/// The context is that of a store's clerk: no condition names the store, since policies show its rows alone.
struct PurchaseRoutes {
    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get(use: list)
        group.post(use: order)
        group.get(":number", use: show)
    }

    /// `POST /stores/1/purchases` with `{"buyer": 5, "lines": [{"book": 3, "copies": 2}]}`.
    ///
    /// Copies leave the stock in the same transaction; 409 where there are too few.
    @Sendable func order(
        _ request: Request, _ context: ShopRequestContext
    ) async throws -> EditedResponse<ObjectView> {
        let order = try await request.decode(as: NewPurchase.self, context: context)
        let storeID = try context.number("store")
        guard !order.lines.isEmpty, Set(order.lines.map(\.book)).count == order.lines.count else {
            throw HTTPError(.unprocessableContent, message: "A purchase has lines, and each book once")
        }
        let database = try context.database
        let purchase = try await database.transaction {
            // The store's row is locked first: purchases of one store get their numbers one after the other.
            let store = try await database.fetch(Store.self).where { $0.id == storeID }.lock().one()
            let last = try await database.fetch(Purchase.self).maximum(\.number)
            let purchase = try database.add(Purchase.new(number: (last ?? 0) + 1, status: .paid, store: store))
            if let buyer = order.buyer {
                try await purchase.buyer.set(try await database.get(Person.self, buyer))
            }
            let wanted = order.lines.map(\.book)
            let shelves = try await database.fetch(Stock.self)
                .where { $0.bookID.isIn(wanted) }
                .sorted { $0.bookID }
                .prefetch(\.book)
                .lock()
                .all()
            let stock = Dictionary(uniqueKeysWithValues: shelves.map { ($0.bookID, $0) })
            for (index, line) in order.lines.enumerated() {
                guard let shelf = stock[line.book], line.copies <= shelf.copies else {
                    throw HTTPError(.conflict, message: "Book \(line.book) is out of stock")
                }
                shelf.copies -= line.copies
                let price = try await shelf.book.object.price
                try database.add(
                    PurchaseLine.new(
                        line: index + 1, copies: line.copies, price: price, purchase: purchase, stock: shelf))
            }
            try await database.save()
            return purchase
        }
        return EditedResponse(status: .created, response: try await view(purchase))
    }

    /// `GET /stores/1/purchases?after=CURSOR`: the latest first, two statements a page.
    @Sendable func list(_ request: Request, _ context: ShopRequestContext) async throws -> PurchasePage {
        let cursor = try request.uri.queryParameters.get("after").map { try PageCursor($0) }
        let page = try await context.database.fetch(Purchase.self)
            .sorted(ascending: false) { $0.number }
            .page(size: 20, after: cursor)
        let views = try await page.views(\.number, \.status, \.placedAt, \.buyer.surname, keys: .properties)
        return PurchasePage(purchases: views, next: page.next)
    }

    @Sendable func show(_ request: Request, _ context: ShopRequestContext) async throws -> ObjectView {
        let number = try context.number("number")
        return try await view(try await context.database.fetch(Purchase.self).where { $0.number == number }.one())
    }

    private func view(_ purchase: Purchase) async throws -> ObjectView {
        try await purchase.view(
            \.self, \.store.city, \.buyer.surname, \.lines.line, \.lines.copies, \.lines.price,
            \.lines.stock.book.title, keys: .properties)
    }
}

struct PurchasePage: ResponseEncodable {
    let purchases: [ObjectView]
    let next: PageCursor?
}

struct NewPurchase: Decodable {
    struct Line: Decodable {
        let book: Int
        let copies: Int
    }

    let buyer: Int?
    let lines: [Line]
}
