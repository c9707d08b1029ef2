// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension House: TypedObject {
    /// The entity `public.house`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "house",
        [
            .attribute(\House.id, "id", "integer"),
            .attribute(
                \House.address,
                "address",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)"
            ),
            .attribute(
                \House.home,
                "home",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)"
            ),
            .attribute(
                \House.earlier,
                "earlier",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)[]"
            ),
            .attribute(\House.moods, "moods", "enum[]"),
            .attribute(\House.visits, "visits", "range(double precision)"),
            .attribute(\House.seats, "seats", "int4range"),
            .attribute(\House.sizeID, "size_id", "integer", name: "sizeID"),
            .attribute(\House.code, "code", "text"),
            .attribute(\House.codes, "codes", "text[]"),
            .attribute(\House.source, "source", "inet"),
            .attribute(\House.spot, "spot", "point"),
            .attribute(\House.`case`, "case", "uuid"),
            .toOne(\House.size, "public_house_house_size_id_fkey", name: "size"),
        ]
    )
}

extension House {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `address`.
    public var address: Address? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `home`.
    public var home: Address? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `earlier`.
    public var earlier: [Address?]? {
        get { readArray(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `moods`.
    public var moods: [Mood?]? {
        get { readArray(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `visits`.
    public var visits: PostgresRange<Double>? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `seats`.
    public var seats: PostgresRange<Int>? {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `size_id`.
    public var sizeID: Int? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `code`; empty while a new object has no value.
    public var code: String {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `codes`.
    public var codes: [String?]? {
        get { readArray(9) }
        set { writeProperty(9, newValue) }
    }

    /// The column `source`.
    public var source: PostgresInet? {
        get { readProperty(10) }
        set { writeProperty(10, newValue) }
    }

    /// The column `spot`.
    public var spot: PostgresValue? {
        get { readProperty(11) }
        set { writeProperty(11, newValue) }
    }

    /// The column `case`; all zeros while a new object has no value.
    public var `case`: UUID {
        get { readProperty(12) }
        set { writeProperty(12, newValue) }
    }

    /// The relationship `size`.
    public var size: ToOne<Größe?> {
        get { toOneProperty(13) }
        @available(*, unavailable, message: "call try await size.set(object)")
        set {}
    }
}
