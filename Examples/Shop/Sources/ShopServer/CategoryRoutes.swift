import Hummingbird
import Kindred
import ShopModels

/// `/categories`: a shop window.
struct CategoryRoutes {
    func add(to group: RouterGroup<ShopRequestContext>) {
        group.get(use: list)
    }

    /// `GET /categories`: each with the three newest of its books that a store has, two statements in all.
    @Sendable func list(_ request: Request, _ context: ShopRequestContext) async throws -> [ObjectView] {
        try await context.database.fetch(Category.self)
            .sorted { $0.name }
            .prefetch(\.books) {
                $0.where { $0.stocks.contains { $0.copies > 0 } }
                    .sorted(ascending: false) { $0.published }
                    .sorted { $0.id }
                    .limit(3)
            }
            .views(\.id, \.name, \.books.id, \.books.title, \.books.published, keys: .properties)
    }
}
