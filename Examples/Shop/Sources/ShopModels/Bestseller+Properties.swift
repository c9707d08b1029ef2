// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Bestseller: TypedObject {
    /// The entity `public.bestseller`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "bestseller",
        [
            .attribute(\Bestseller.title, "title", "text"),
            .attribute(\Bestseller.copies, "copies", "integer"),
            .attribute(\Bestseller.turnover, "turnover", "numeric"),
        ]
    )
}

extension Bestseller {
    /// The column `title`.
    public var title: String? {
        readProperty(0)
    }

    /// The column `copies`.
    public var copies: Int? {
        readProperty(1)
    }

    /// The column `turnover`.
    public var turnover: PostgresNumeric? {
        readProperty(2)
    }
}
