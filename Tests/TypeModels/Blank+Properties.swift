// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Blank: KeyedObject {
    /// The class of the objects.
    public typealias Target = Blank
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.blank`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "blank",
        [
            .attribute(\Blank.id, "id", "integer"),
            .attribute(\Blank.nothing, "nothing", "text"),
            .attribute(\Blank.bare, "bare", "composite()"),
            .attribute(\Blank.mood, "mood", "enum"),
            .attribute(
                \Blank.address,
                "address",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)"
            ),
            .attribute(
                \Blank.home,
                "home",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)"
            ),
            .attribute(\Blank.active, "active", "boolean"),
            .attribute(\Blank.ratio, "ratio", "real"),
            .attribute(\Blank.score, "score", "double precision"),
            .attribute(\Blank.price, "price", "numeric"),
            .attribute(\Blank.cost, "cost", "money"),
            .attribute(\Blank.data, "data", "bytea"),
            .attribute(\Blank.token, "token", "uuid"),
            .attribute(\Blank.born, "born", "date"),
            .attribute(\Blank.at, "at", "time without time zone"),
            .attribute(\Blank.there, "there", "time with time zone"),
            .attribute(\Blank.seen, "seen", "timestamp with time zone"),
            .attribute(\Blank.lasting, "lasting", "interval"),
            .attribute(\Blank.info, "info", "json"),
            .attribute(\Blank.source, "source", "inet"),
            .attribute(\Blank.card, "card", "macaddr"),
            .attribute(\Blank.words, "words", "tsvector"),
            .attribute(\Blank.spot, "spot", "point"),
            .attribute(\Blank.bits, "bits", "bit varying"),
            .attribute(\Blank.seats, "seats", "int4range"),
            .attribute(\Blank.days, "days", "datemultirange"),
            .attribute(\Blank.visits, "visits", "range(double precision)"),
            .attribute(\Blank.moods, "moods", "enum[]"),
            .attribute(
                \Blank.places,
                "places",
                "composite(street text, number integer, code text, tags text[], mood enum, nearest composite(name text, stars integer), class boolean, self uuid)[]"
            ),
        ]
    )
}

extension Blank {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case nothing
        case bare
        case mood
        case address
        case home
        case active
        case ratio
        case score
        case price
        case cost
        case data
        case token
        case born
        case at
        case there
        case seen
        case lasting
        case info
        case source
        case card
        case words
        case spot
        case bits
        case seats
        case days
        case visits
        case moods
        case places
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `nothing`; an unknown label while a new object has no value.
    public var nothing: Nothing {
        get { readProperty(PropertyNumber.nothing.rawValue) }
        set { writeProperty(PropertyNumber.nothing.rawValue, newValue) }
    }

    /// The column `bare`; all NULL while a new object has no value.
    public var bare: Bare {
        get { readProperty(PropertyNumber.bare.rawValue) }
        set { writeProperty(PropertyNumber.bare.rawValue, newValue) }
    }

    /// The column `mood`; the first label while a new object has no value.
    public var mood: Mood {
        get { readProperty(PropertyNumber.mood.rawValue) }
        set { writeProperty(PropertyNumber.mood.rawValue, newValue) }
    }

    /// The column `address`; all NULL while a new object has no value.
    public var address: Address {
        get { readProperty(PropertyNumber.address.rawValue) }
        set { writeProperty(PropertyNumber.address.rawValue, newValue) }
    }

    /// The column `home`; all NULL while a new object has no value.
    public var home: Address {
        get { readProperty(PropertyNumber.home.rawValue) }
        set { writeProperty(PropertyNumber.home.rawValue, newValue) }
    }

    /// The column `active`; false while a new object has no value.
    public var active: Bool {
        get { readProperty(PropertyNumber.active.rawValue) }
        set { writeProperty(PropertyNumber.active.rawValue, newValue) }
    }

    /// The column `ratio`; 0 while a new object has no value.
    public var ratio: Float {
        get { readProperty(PropertyNumber.ratio.rawValue) }
        set { writeProperty(PropertyNumber.ratio.rawValue, newValue) }
    }

    /// The column `score`; 0 while a new object has no value.
    public var score: Double {
        get { readProperty(PropertyNumber.score.rawValue) }
        set { writeProperty(PropertyNumber.score.rawValue, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The column `cost`; empty while a new object has no value.
    public var cost: PostgresValue {
        get { readProperty(PropertyNumber.cost.rawValue) }
        set { writeProperty(PropertyNumber.cost.rawValue, newValue) }
    }

    /// The column `data`; empty while a new object has no value.
    public var data: [UInt8] {
        get { readProperty(PropertyNumber.data.rawValue) }
        set { writeProperty(PropertyNumber.data.rawValue, newValue) }
    }

    /// The column `token`; all zeros while a new object has no value.
    public var token: UUID {
        get { readProperty(PropertyNumber.token.rawValue) }
        set { writeProperty(PropertyNumber.token.rawValue, newValue) }
    }

    /// The column `born`; 1970-01-01 while a new object has no value.
    public var born: PostgresDate {
        get { readProperty(PropertyNumber.born.rawValue) }
        set { writeProperty(PropertyNumber.born.rawValue, newValue) }
    }

    /// The column `at`; midnight while a new object has no value.
    public var at: PostgresTime {
        get { readProperty(PropertyNumber.at.rawValue) }
        set { writeProperty(PropertyNumber.at.rawValue, newValue) }
    }

    /// The column `there`; midnight while a new object has no value.
    public var there: PostgresTimeTZ {
        get { readProperty(PropertyNumber.there.rawValue) }
        set { writeProperty(PropertyNumber.there.rawValue, newValue) }
    }

    /// The column `seen`; 1970-01-01 while a new object has no value.
    public var seen: PostgresTimestamp {
        get { readProperty(PropertyNumber.seen.rawValue) }
        set { writeProperty(PropertyNumber.seen.rawValue, newValue) }
    }

    /// The column `lasting`; 0 while a new object has no value.
    public var lasting: PostgresInterval {
        get { readProperty(PropertyNumber.lasting.rawValue) }
        set { writeProperty(PropertyNumber.lasting.rawValue, newValue) }
    }

    /// The column `info`; `null` while a new object has no value.
    public var info: PostgresJSON {
        get { readProperty(PropertyNumber.info.rawValue) }
        set { writeProperty(PropertyNumber.info.rawValue, newValue) }
    }

    /// The column `source`; all zeros while a new object has no value.
    public var source: PostgresInet {
        get { readProperty(PropertyNumber.source.rawValue) }
        set { writeProperty(PropertyNumber.source.rawValue, newValue) }
    }

    /// The column `card`; all zeros while a new object has no value.
    public var card: PostgresMACAddress {
        get { readProperty(PropertyNumber.card.rawValue) }
        set { writeProperty(PropertyNumber.card.rawValue, newValue) }
    }

    /// The column `words`; empty while a new object has no value.
    public var words: PostgresTSVector {
        get { readProperty(PropertyNumber.words.rawValue) }
        set { writeProperty(PropertyNumber.words.rawValue, newValue) }
    }

    /// The column `spot`; empty while a new object has no value.
    public var spot: PostgresValue {
        get { readProperty(PropertyNumber.spot.rawValue) }
        set { writeProperty(PropertyNumber.spot.rawValue, newValue) }
    }

    /// The column `bits`; empty while a new object has no value.
    public var bits: PostgresValue {
        get { readProperty(PropertyNumber.bits.rawValue) }
        set { writeProperty(PropertyNumber.bits.rawValue, newValue) }
    }

    /// The column `seats`; empty while a new object has no value.
    public var seats: PostgresRange<Int> {
        get { readProperty(PropertyNumber.seats.rawValue) }
        set { writeProperty(PropertyNumber.seats.rawValue, newValue) }
    }

    /// The column `days`; empty while a new object has no value.
    public var days: PostgresValue {
        get { readProperty(PropertyNumber.days.rawValue) }
        set { writeProperty(PropertyNumber.days.rawValue, newValue) }
    }

    /// The column `visits`; empty while a new object has no value.
    public var visits: PostgresRange<Double> {
        get { readProperty(PropertyNumber.visits.rawValue) }
        set { writeProperty(PropertyNumber.visits.rawValue, newValue) }
    }

    /// The column `moods`; empty while a new object has no value.
    public var moods: [Mood?] {
        get { readArray(PropertyNumber.moods.rawValue) }
        set { writeProperty(PropertyNumber.moods.rawValue, newValue) }
    }

    /// The column `places`; empty while a new object has no value.
    public var places: [Address?] {
        get { readArray(PropertyNumber.places.rawValue) }
        set { writeProperty(PropertyNumber.places.rawValue, newValue) }
    }
}

extension Blank {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int,
        nothing: Nothing,
        bare: Bare,
        mood: Mood,
        address: Address,
        home: Address,
        active: Bool,
        ratio: Float,
        score: Double,
        price: PostgresNumeric,
        cost: PostgresValue,
        data: [UInt8],
        token: UUID,
        born: PostgresDate,
        at: PostgresTime,
        there: PostgresTimeTZ,
        seen: PostgresTimestamp,
        lasting: PostgresInterval,
        info: PostgresJSON,
        source: PostgresInet,
        card: PostgresMACAddress,
        words: PostgresTSVector,
        spot: PostgresValue,
        bits: PostgresValue,
        seats: PostgresRange<Int>,
        days: PostgresValue,
        visits: PostgresRange<Double>,
        moods: [Mood?],
        places: [Address?]
    ) -> NewValues<Blank> {
        var values = NewValues<Blank>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.nothing.rawValue, nothing)
        values.setProperty(PropertyNumber.bare.rawValue, bare)
        values.setProperty(PropertyNumber.mood.rawValue, mood)
        values.setProperty(PropertyNumber.address.rawValue, address)
        values.setProperty(PropertyNumber.home.rawValue, home)
        values.setProperty(PropertyNumber.active.rawValue, active)
        values.setProperty(PropertyNumber.ratio.rawValue, ratio)
        values.setProperty(PropertyNumber.score.rawValue, score)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setProperty(PropertyNumber.cost.rawValue, cost)
        values.setProperty(PropertyNumber.data.rawValue, data)
        values.setProperty(PropertyNumber.token.rawValue, token)
        values.setProperty(PropertyNumber.born.rawValue, born)
        values.setProperty(PropertyNumber.at.rawValue, at)
        values.setProperty(PropertyNumber.there.rawValue, there)
        values.setProperty(PropertyNumber.seen.rawValue, seen)
        values.setProperty(PropertyNumber.lasting.rawValue, lasting)
        values.setProperty(PropertyNumber.info.rawValue, info)
        values.setProperty(PropertyNumber.source.rawValue, source)
        values.setProperty(PropertyNumber.card.rawValue, card)
        values.setProperty(PropertyNumber.words.rawValue, words)
        values.setProperty(PropertyNumber.spot.rawValue, spot)
        values.setProperty(PropertyNumber.bits.rawValue, bits)
        values.setProperty(PropertyNumber.seats.rawValue, seats)
        values.setProperty(PropertyNumber.days.rawValue, days)
        values.setProperty(PropertyNumber.visits.rawValue, visits)
        values.setProperty(PropertyNumber.moods.rawValue, moods)
        values.setProperty(PropertyNumber.places.rawValue, places)
        return values
    }
}

extension TypedObject where Self: Blank {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var born: Date {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var seen: Date {
        get { Date() }
        set {}
    }
}
