import Hummingbird
import Kindred

/// What a request carries: Hummingbird's own storage, and the unit of work that middleware opens for it.
struct ShopRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private var openContext: DatabaseContext?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// The request's unit of work; throws where a route stands outside `DatabaseMiddleware`.
    var database: DatabaseContext {
        get throws {
            guard let openContext else { throw HTTPError(.internalServerError) }
            return openContext
        }
    }

    /// The same request with a unit of work.
    func with(_ database: DatabaseContext) -> ShopRequestContext {
        var context = self
        context.openContext = database
        return context
    }

    /// A number in the path, such as the key of a row.
    func number(_ name: String) throws -> Int {
        guard let number = parameters.get(name, as: Int.self) else {
            throw HTTPError(.notFound, message: "\(name) is not a number")
        }
        return number
    }
}

/// Gives each request a context of its own: one object for each row, and what is left unsaved is taken back.
struct DatabaseMiddleware: RouterMiddleware {
    let database: Database

    func handle(
        _ request: Request, context: ShopRequestContext,
        next: (Request, ShopRequestContext) async throws -> Response
    ) async throws -> Response {
        try await database.withContext { try await next(request, context.with($0)) }
    }
}

/// Gives each request about a store a context of its clerks: whatever is read and written with it, is of that store.
///
/// A server of your own takes the store from who has signed in, and not from the path.
struct ClerkMiddleware: RouterMiddleware {
    let database: Database

    func handle(
        _ request: Request, context: ShopRequestContext,
        next: (Request, ShopRequestContext) async throws -> Response
    ) async throws -> Response {
        let store = try context.number("store")
        return try await database.withContext(settings: ["shop.store": store], role: "shop_clerk") {
            try await next(request, context.with($0))
        }
    }
}
