// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Visit: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `began`; 1970-01-01 while a new object has no value.
    public var began: PostgresTimestamp {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `ended`.
    public var ended: PostgresTimestamp? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
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
