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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case title
        case copies
        case turnover
    }

    /// The column `title`.
    public var title: String? {
        readProperty(PropertyNumber.title.rawValue)
    }

    /// The column `copies`.
    public var copies: Int? {
        readProperty(PropertyNumber.copies.rawValue)
    }

    /// The column `turnover`.
    public var turnover: PostgresNumeric? {
        readProperty(PropertyNumber.turnover.rawValue)
    }
}
