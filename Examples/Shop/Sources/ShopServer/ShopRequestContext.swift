import Hummingbird
import Kindred
import KindredHummingbird

/// What a request carries: Hummingbird's own storage, and the unit of work that middleware opens for it.
struct ShopRequestContext: DatabaseRequestContext {
    var coreContext: CoreRequestContextStorage
    var unitOfWork: DatabaseContext?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// A number in the path, such as the key of a row.
    func number(_ name: String) throws -> Int {
        guard let number = parameters.get(name, as: Int.self) else {
            throw HTTPError(.notFound, message: "\(name) is not a number")
        }
        return number
    }
}

extension DatabaseMiddleware<ShopRequestContext> {
    /// Gives each request about a store a context of its clerks: whatever is read and written with it, is of that store.
    ///
    /// A server of your own takes the store from who has signed in, and not from the path.
    static func clerks(of database: Database) -> Self {
        DatabaseMiddleware { _, context, position in
            try database.makeContext(
                settings: ["shop.store": try context.number("store")], role: "shop_clerk", reading: .automatic,
                after: position)
        }
    }
}
