// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Blank: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `nothing`; an unknown label while a new object has no value.
    public var nothing: Nothing {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `bare`; all NULL while a new object has no value.
    public var bare: Bare {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `mood`; the first label while a new object has no value.
    public var mood: Mood {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `address`; all NULL while a new object has no value.
    public var address: Address {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `home`; all NULL while a new object has no value.
    public var home: Address {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `active`; false while a new object has no value.
    public var active: Bool {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `ratio`; 0 while a new object has no value.
    public var ratio: Float {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `score`; 0 while a new object has no value.
    public var score: Double {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(9) }
        set { writeProperty(9, newValue) }
    }

    /// The column `cost`; empty while a new object has no value.
    public var cost: PostgresValue {
        get { readProperty(10) }
        set { writeProperty(10, newValue) }
    }

    /// The column `data`; empty while a new object has no value.
    public var data: [UInt8] {
        get { readProperty(11) }
        set { writeProperty(11, newValue) }
    }

    /// The column `token`; all zeros while a new object has no value.
    public var token: UUID {
        get { readProperty(12) }
        set { writeProperty(12, newValue) }
    }

    /// The column `born`; 1970-01-01 while a new object has no value.
    public var born: PostgresDate {
        get { readProperty(13) }
        set { writeProperty(13, newValue) }
    }

    /// The column `at`; midnight while a new object has no value.
    public var at: PostgresTime {
        get { readProperty(14) }
        set { writeProperty(14, newValue) }
    }

    /// The column `there`; midnight while a new object has no value.
    public var there: PostgresTimeTZ {
        get { readProperty(15) }
        set { writeProperty(15, newValue) }
    }

    /// The column `seen`; 1970-01-01 while a new object has no value.
    public var seen: PostgresTimestamp {
        get { readProperty(16) }
        set { writeProperty(16, newValue) }
    }

    /// The column `lasting`; 0 while a new object has no value.
    public var lasting: PostgresInterval {
        get { readProperty(17) }
        set { writeProperty(17, newValue) }
    }

    /// The column `info`; `null` while a new object has no value.
    public var info: PostgresJSON {
        get { readProperty(18) }
        set { writeProperty(18, newValue) }
    }

    /// The column `source`; all zeros while a new object has no value.
    public var source: PostgresInet {
        get { readProperty(19) }
        set { writeProperty(19, newValue) }
    }

    /// The column `card`; all zeros while a new object has no value.
    public var card: PostgresMACAddress {
        get { readProperty(20) }
        set { writeProperty(20, newValue) }
    }

    /// The column `words`; empty while a new object has no value.
    public var words: PostgresTSVector {
        get { readProperty(21) }
        set { writeProperty(21, newValue) }
    }

    /// The column `spot`; empty while a new object has no value.
    public var spot: PostgresValue {
        get { readProperty(22) }
        set { writeProperty(22, newValue) }
    }

    /// The column `bits`; empty while a new object has no value.
    public var bits: PostgresValue {
        get { readProperty(23) }
        set { writeProperty(23, newValue) }
    }

    /// The column `seats`; empty while a new object has no value.
    public var seats: PostgresRange<Int> {
        get { readProperty(24) }
        set { writeProperty(24, newValue) }
    }

    /// The column `days`; empty while a new object has no value.
    public var days: PostgresValue {
        get { readProperty(25) }
        set { writeProperty(25, newValue) }
    }

    /// The column `visits`; empty while a new object has no value.
    public var visits: PostgresRange<Double> {
        get { readProperty(26) }
        set { writeProperty(26, newValue) }
    }

    /// The column `moods`; empty while a new object has no value.
    public var moods: [Mood?] {
        get { readArray(27) }
        set { writeProperty(27, newValue) }
    }

    /// The column `places`; empty while a new object has no value.
    public var places: [Address?] {
        get { readArray(28) }
        set { writeProperty(28, newValue) }
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
