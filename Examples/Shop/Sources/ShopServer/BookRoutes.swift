import Hummingbird
import Kindred
import NIOCore
import ShopModels

/// `/books`: pages, one book, changes by one client at a time, deletions with a plan.
struct BookRoutes {
    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get(use: list)
        group.get(":id", use: show)
        group.patch(":id", use: change)
        group.delete(":id", use: delete)
    }

    /// `GET /books?category=Poetry&limit=20&after=CURSOR`: three statements a page, whatever its size.
    @Sendable func list(_ request: Request, _ context: ShopRequestContext) async throws -> BookPage {
        let query = request.uri.queryParameters
        var books = try context.database.fetch(Book.self).sorted { $0.title }
        if let category = query.get("category") {
            books = try books.where { $0.category.name == category }
        }
        let limit = min(max(query.get("limit", as: Int.self) ?? 20, 1), 100)
        let page = try await books.page(size: limit, after: try query.get("after").map { try PageCursor($0) })
        let views = try await page.views(
            \.id, \.title, \.price, \.category.name, \.authors.name, keys: .properties)
        return BookPage(books: views, next: page.next)
    }

    /// `GET /books/3`, with the version that a later change has to name.
    @Sendable func show(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        try await response(try await book(in: context), request, context)
    }

    /// `PATCH /books/3` with `If-Match: "1"` and `{"price": "9.50"}`: 409 if the book has another version by now.
    @Sendable func change(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let patch = try ObjectPatch(json: body.readableBytesView)
        let book = try await book(in: context)
        if let version = request.headers[.ifMatch] {
            try book.expect(version: version.trimmingPrefix("\"").prefix { $0 != "\"" }.description)
        }
        try book.apply(patch, allowing: [\.title, \.price, \.keywords])
        try await context.database.save()
        return try await response(book, request, context)
    }

    /// `DELETE /books/3`; with `?dryRun=true` what that would do.
    @Sendable func delete(_ request: Request, _ context: ShopRequestContext) async throws -> Response {
        let book = try await book(in: context)
        if request.uri.queryParameters.get("dryRun", as: Bool.self) == true {
            let plan = DeletionSummary(try await context.database.deletionPlan(for: book))
            return try context.responseEncoder.encode(plan, from: request, context: context)
        }
        try await context.database.delete(book)
        return Response(status: .noContent)
    }

    private func book(in context: ShopRequestContext) async throws -> Book {
        try await context.database.get(Book.self, context.number("id"))
    }

    private func response(
        _ book: Book, _ request: Request, _ context: ShopRequestContext
    ) async throws -> Response {
        let view = try await book.view(\.self, \.category.name, \.authors.name, keys: .properties)
        var response = try context.responseEncoder.encode(view, from: request, context: context)
        response.headers[.eTag] = book.rowVersion.map { "\"\($0)\"" }
        return response
    }
}

struct BookPage: ResponseEncodable {
    let books: [ObjectView]
    let next: PageCursor?
}

/// What a deletion would do, by table.
struct DeletionSummary: Encodable {
    struct Item: Encodable {
        let entity: String
        let rule: String?
        let rows: Int
        let forbids: Bool
    }

    let isDenied: Bool
    let items: [Item]

    init(_ plan: DeletionPlan) {
        isDenied = plan.isDenied
        items = plan.items.map {
            Item(entity: "\($0.entity)", rule: $0.rule.map { "\($0)" }, rows: $0.objects.count, forbids: $0.isDenied)
        }
    }
}
