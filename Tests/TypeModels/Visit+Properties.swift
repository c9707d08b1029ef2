// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Visit: KeyedObject {
    /// The class of the objects.
    public typealias Target = Visit
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.visit`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "visit",
        [
            .attribute(\Visit.id, "id", "integer"),
            .attribute(\Visit.began, "began", "timestamp with time zone"),
            .attribute(\Visit.ended, "ended", "timestamp with time zone"),
        ]
    )
}

extension Visit {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case began
        case ended
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `began`; 1970-01-01 while a new object has no value.
    public var began: PostgresTimestamp {
        get { readProperty(PropertyNumber.began.rawValue) }
        set { writeProperty(PropertyNumber.began.rawValue, newValue) }
    }

    /// The column `ended`.
    public var ended: PostgresTimestamp? {
        get { readProperty(PropertyNumber.ended.rawValue) }
        set { writeProperty(PropertyNumber.ended.rawValue, newValue) }
    }
}

extension Visit {
    /// The values of a new row; the database fills what is nil.
    public static func new(id: Int, began: PostgresTimestamp, ended: PostgresTimestamp? = nil) -> NewValues<Visit> {
        var values = NewValues<Visit>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.began.rawValue, began)
        values.setProperty(PropertyNumber.ended.rawValue, ended)
        return values
    }
}

extension TypedObject where Self: Visit {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var began: Date {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var ended: Date? {
        get { Date() }
        set {}
    }
}
