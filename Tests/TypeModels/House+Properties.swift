// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension House: KeyedObject {
    /// The class of the objects.
    public typealias Target = House
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case address
        case home
        case earlier
        case moods
        case visits
        case seats
        case sizeID
        case code
        case codes
        case source
        case spot
        case `case`
        case size
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `address`.
    public var address: Address? {
        get { readProperty(PropertyNumber.address.rawValue) }
        set { writeProperty(PropertyNumber.address.rawValue, newValue) }
    }

    /// The column `home`.
    public var home: Address? {
        get { readProperty(PropertyNumber.home.rawValue) }
        set { writeProperty(PropertyNumber.home.rawValue, newValue) }
    }

    /// The column `earlier`.
    public var earlier: [Address?]? {
        get { readArray(PropertyNumber.earlier.rawValue) }
        set { writeProperty(PropertyNumber.earlier.rawValue, newValue) }
    }

    /// The column `moods`.
    public var moods: [Mood?]? {
        get { readArray(PropertyNumber.moods.rawValue) }
        set { writeProperty(PropertyNumber.moods.rawValue, newValue) }
    }

    /// The column `visits`.
    public var visits: PostgresRange<Double>? {
        get { readProperty(PropertyNumber.visits.rawValue) }
        set { writeProperty(PropertyNumber.visits.rawValue, newValue) }
    }

    /// The column `seats`.
    public var seats: PostgresRange<Int>? {
        get { readProperty(PropertyNumber.seats.rawValue) }
        set { writeProperty(PropertyNumber.seats.rawValue, newValue) }
    }

    /// The column `size_id`.
    public var sizeID: Int? {
        get { readProperty(PropertyNumber.sizeID.rawValue) }
        set { writeProperty(PropertyNumber.sizeID.rawValue, newValue) }
    }

    /// The column `code`; empty while a new object has no value.
    public var code: String {
        get { readProperty(PropertyNumber.code.rawValue) }
        set { writeProperty(PropertyNumber.code.rawValue, newValue) }
    }

    /// The column `codes`.
    public var codes: [String?]? {
        get { readArray(PropertyNumber.codes.rawValue) }
        set { writeProperty(PropertyNumber.codes.rawValue, newValue) }
    }

    /// The column `source`.
    public var source: PostgresInet? {
        get { readProperty(PropertyNumber.source.rawValue) }
        set { writeProperty(PropertyNumber.source.rawValue, newValue) }
    }

    /// The column `spot`.
    public var spot: PostgresValue? {
        get { readProperty(PropertyNumber.spot.rawValue) }
        set { writeProperty(PropertyNumber.spot.rawValue, newValue) }
    }

    /// The column `case`; all zeros while a new object has no value.
    public var `case`: UUID {
        get { readProperty(PropertyNumber.`case`.rawValue) }
        set { writeProperty(PropertyNumber.`case`.rawValue, newValue) }
    }

    /// The relationship `size`.
    public var size: ToOne<Größe?> {
        get { toOneProperty(PropertyNumber.size.rawValue) }
        @available(*, unavailable, message: "call try await size.set(object)")
        set {}
    }
}

extension House {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        address: Address? = nil,
        home: Address? = nil,
        earlier: [Address?]? = nil,
        moods: [Mood?]? = nil,
        visits: PostgresRange<Double>? = nil,
        seats: PostgresRange<Int>? = nil,
        code: String? = nil,
        codes: [String?]? = nil,
        source: PostgresInet? = nil,
        spot: PostgresValue? = nil,
        `case`: UUID? = nil,
        size: some OptionalToOneValue<Größe> = Größe?.none
    ) -> NewValues<House> {
        var values = NewValues<House>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.address.rawValue, address)
        values.setProperty(PropertyNumber.home.rawValue, home)
        values.setProperty(PropertyNumber.earlier.rawValue, earlier)
        values.setProperty(PropertyNumber.moods.rawValue, moods)
        values.setProperty(PropertyNumber.visits.rawValue, visits)
        values.setProperty(PropertyNumber.seats.rawValue, seats)
        values.setProperty(PropertyNumber.code.rawValue, code)
        values.setProperty(PropertyNumber.codes.rawValue, codes)
        values.setProperty(PropertyNumber.source.rawValue, source)
        values.setProperty(PropertyNumber.spot.rawValue, spot)
        values.setProperty(PropertyNumber.`case`.rawValue, `case`)
        values.setToOne(PropertyNumber.size.rawValue, columns: [PropertyNumber.sizeID.rawValue], size)
        return values
    }
}
