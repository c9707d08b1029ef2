// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Keeper: TypedObject {
    /// The entity `public.keeper`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "keeper",
        [
            .attribute(\Keeper.id, "id", "integer"),
            .attribute(\Keeper.name, "name", "text"),
            .attribute(\Keeper.code, "code", "text"),
            .attribute(\Keeper.story, "story", "text"),
            .attribute(\Keeper.words, "words", "tsvector"),
            .attribute(\Keeper.age, "age", "integer"),
            .attribute(\Keeper.rank, "rank", "integer"),
            .attribute(\Keeper.size, "size", "integer"),
            .attribute(\Keeper.score, "score", "double precision"),
            .attribute(\Keeper.ratio, "ratio", "real"),
            .attribute(\Keeper.price, "price", "numeric"),
            .attribute(\Keeper.active, "active", "boolean"),
            .attribute(\Keeper.visible, "visible", "boolean"),
            .attribute(\Keeper.mood, "mood", "enum"),
            .attribute(\Keeper.token, "token", "uuid"),
            .attribute(\Keeper.born, "born", "date"),
            .attribute(\Keeper.seen, "seen", "timestamp without time zone"),
            .attribute(\Keeper.lasting, "lasting", "interval"),
            .attribute(\Keeper.tags, "tags", "text[]"),
            .attribute(\Keeper.numbers, "numbers", "integer[]"),
            .attribute(\Keeper.info, "info", "json"),
            .attribute(\Keeper.notes, "notes", "json"),
            .attribute(\Keeper.bossID, "boss_id", "integer", name: "bossID"),
            .attribute(\Keeper.clubID, "club_id", "integer", name: "clubID"),
            .toOne(\Keeper.badge, "public_badge_badge_keeper_id_fkey", name: "badge"),
            .toOne(\Keeper.boss, "public_keeper_keeper_boss_id_fkey_2", name: "boss"),
            .toOne(\Keeper.club, "public_keeper_keeper_club_id_fkey", name: "club"),
            .toMany(\Keeper.clubs, "public_membership_clubs_members", name: "clubs"),
            .toMany(\Keeper.keepers, "public_keeper_keeper_boss_id_fkey", name: "keepers"),
            .toMany(\Keeper.memberships, "public_membership_clubs", name: "memberships"),
            .toMany(\Keeper.pets, "public_pet_pet_keeper_id_fkey", name: "pets"),
        ]
    )
}

extension Keeper {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `code`; empty while a new object has no value.
    public var code: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `story`.
    public var story: String? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `words`.
    public var words: PostgresTSVector? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `age`.
    public var age: Int? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `rank`; 0 while a new object has no value.
    public var rank: Int {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `size`; 0 while a new object has no value.
    public var size: Int {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `score`.
    public var score: Double? {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `ratio`.
    public var ratio: Float? {
        get { readProperty(9) }
        set { writeProperty(9, newValue) }
    }

    /// The column `price`.
    public var price: PostgresNumeric? {
        get { readProperty(10) }
        set { writeProperty(10, newValue) }
    }

    /// The column `active`.
    public var active: Bool? {
        get { readProperty(11) }
        set { writeProperty(11, newValue) }
    }

    /// The column `visible`; false while a new object has no value.
    public var visible: Bool {
        get { readProperty(12) }
        set { writeProperty(12, newValue) }
    }

    /// The column `mood`.
    public var mood: Mood? {
        get { readProperty(13) }
        set { writeProperty(13, newValue) }
    }

    /// The column `token`.
    public var token: UUID? {
        get { readProperty(14) }
        set { writeProperty(14, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(15) }
        set { writeProperty(15, newValue) }
    }

    /// The column `seen`.
    public var seen: PostgresTimestamp? {
        get { readProperty(16) }
        set { writeProperty(16, newValue) }
    }

    /// The column `lasting`.
    public var lasting: PostgresInterval? {
        get { readProperty(17) }
        set { writeProperty(17, newValue) }
    }

    /// The column `tags`.
    public var tags: [String?]? {
        get { readArray(18) }
        set { writeProperty(18, newValue) }
    }

    /// The column `numbers`; empty while a new object has no value.
    public var numbers: [Int?] {
        get { readArray(19) }
        set { writeProperty(19, newValue) }
    }

    /// The column `info`.
    public var info: PostgresJSON? {
        get { readProperty(20) }
        set { writeProperty(20, newValue) }
    }

    /// The column `notes`.
    public var notes: PostgresJSON? {
        get { readProperty(21) }
        set { writeProperty(21, newValue) }
    }

    /// The column `boss_id`.
    public var bossID: Int? {
        get { readProperty(22) }
        set { writeProperty(22, newValue) }
    }

    /// The column `club_id`; 0 while a new object has no value.
    public var clubID: Int {
        get { readProperty(23) }
        set { writeProperty(23, newValue) }
    }

    /// The relationship `badge`.
    public var badge: ToOne<Badge?> {
        get { toOneProperty(24) }
        @available(*, unavailable, message: "call try await badge.set(object)")
        set {}
    }

    /// The relationship `boss`.
    public var boss: ToOne<Keeper?> {
        get { toOneProperty(25) }
        @available(*, unavailable, message: "call try await boss.set(object)")
        set {}
    }

    /// The relationship `club`.
    public var club: ToOne<Club> {
        get { toOneProperty(26) }
        @available(*, unavailable, message: "call try await club.set(object)")
        set {}
    }

    /// The relationship `clubs`.
    public var clubs: ToMany<Club> {
        toManyProperty(27)
    }

    /// The relationship `keeperSet`.
    public var keepers: ToMany<Keeper> {
        toManyProperty(28)
    }

    /// The relationship `membershipSet`.
    public var memberships: ToMany<Membership> {
        toManyProperty(29)
    }

    /// The relationship `petSet`.
    public var pets: ToMany<Pet> {
        toManyProperty(30)
    }
}

extension TypedObject where Self: Keeper {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var born: Date? {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var seen: Date? {
        get { Date() }
        set {}
    }
}
