// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Keeper: KeyedObject {
    /// The class of the objects.
    public typealias Target = Keeper
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case code
        case story
        case words
        case age
        case rank
        case size
        case score
        case ratio
        case price
        case active
        case visible
        case mood
        case token
        case born
        case seen
        case lasting
        case tags
        case numbers
        case info
        case notes
        case bossID
        case clubID
        case badge
        case boss
        case club
        case clubs
        case keepers
        case memberships
        case pets
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`.
    public var name: String? {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The column `code`; empty while a new object has no value.
    public var code: String {
        get { readProperty(PropertyNumber.code.rawValue) }
        set { writeProperty(PropertyNumber.code.rawValue, newValue) }
    }

    /// The column `story`.
    public var story: String? {
        get { readProperty(PropertyNumber.story.rawValue) }
        set { writeProperty(PropertyNumber.story.rawValue, newValue) }
    }

    /// The column `words`.
    public var words: PostgresTSVector? {
        get { readProperty(PropertyNumber.words.rawValue) }
        set { writeProperty(PropertyNumber.words.rawValue, newValue) }
    }

    /// The column `age`.
    public var age: Int? {
        get { readProperty(PropertyNumber.age.rawValue) }
        set { writeProperty(PropertyNumber.age.rawValue, newValue) }
    }

    /// The column `rank`; 0 while a new object has no value.
    public var rank: Int {
        get { readProperty(PropertyNumber.rank.rawValue) }
        set { writeProperty(PropertyNumber.rank.rawValue, newValue) }
    }

    /// The column `size`; 0 while a new object has no value.
    public var size: Int {
        get { readProperty(PropertyNumber.size.rawValue) }
        set { writeProperty(PropertyNumber.size.rawValue, newValue) }
    }

    /// The column `score`.
    public var score: Double? {
        get { readProperty(PropertyNumber.score.rawValue) }
        set { writeProperty(PropertyNumber.score.rawValue, newValue) }
    }

    /// The column `ratio`.
    public var ratio: Float? {
        get { readProperty(PropertyNumber.ratio.rawValue) }
        set { writeProperty(PropertyNumber.ratio.rawValue, newValue) }
    }

    /// The column `price`.
    public var price: PostgresNumeric? {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The column `active`.
    public var active: Bool? {
        get { readProperty(PropertyNumber.active.rawValue) }
        set { writeProperty(PropertyNumber.active.rawValue, newValue) }
    }

    /// The column `visible`; false while a new object has no value.
    public var visible: Bool {
        get { readProperty(PropertyNumber.visible.rawValue) }
        set { writeProperty(PropertyNumber.visible.rawValue, newValue) }
    }

    /// The column `mood`.
    public var mood: Mood? {
        get { readProperty(PropertyNumber.mood.rawValue) }
        set { writeProperty(PropertyNumber.mood.rawValue, newValue) }
    }

    /// The column `token`.
    public var token: UUID? {
        get { readProperty(PropertyNumber.token.rawValue) }
        set { writeProperty(PropertyNumber.token.rawValue, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(PropertyNumber.born.rawValue) }
        set { writeProperty(PropertyNumber.born.rawValue, newValue) }
    }

    /// The column `seen`.
    public var seen: PostgresTimestamp? {
        get { readProperty(PropertyNumber.seen.rawValue) }
        set { writeProperty(PropertyNumber.seen.rawValue, newValue) }
    }

    /// The column `lasting`.
    public var lasting: PostgresInterval? {
        get { readProperty(PropertyNumber.lasting.rawValue) }
        set { writeProperty(PropertyNumber.lasting.rawValue, newValue) }
    }

    /// The column `tags`.
    public var tags: [String?]? {
        get { readArray(PropertyNumber.tags.rawValue) }
        set { writeProperty(PropertyNumber.tags.rawValue, newValue) }
    }

    /// The column `numbers`; empty while a new object has no value.
    public var numbers: [Int?] {
        get { readArray(PropertyNumber.numbers.rawValue) }
        set { writeProperty(PropertyNumber.numbers.rawValue, newValue) }
    }

    /// The column `info`.
    public var info: PostgresJSON? {
        get { readProperty(PropertyNumber.info.rawValue) }
        set { writeProperty(PropertyNumber.info.rawValue, newValue) }
    }

    /// The column `notes`.
    public var notes: PostgresJSON? {
        get { readProperty(PropertyNumber.notes.rawValue) }
        set { writeProperty(PropertyNumber.notes.rawValue, newValue) }
    }

    /// The column `boss_id`.
    public var bossID: Int? {
        get { readProperty(PropertyNumber.bossID.rawValue) }
        set { writeProperty(PropertyNumber.bossID.rawValue, newValue) }
    }

    /// The column `club_id`; 0 while a new object has no value.
    public var clubID: Int {
        get { readProperty(PropertyNumber.clubID.rawValue) }
        set { writeProperty(PropertyNumber.clubID.rawValue, newValue) }
    }

    /// The relationship `badge`.
    public var badge: ToOne<Badge?> {
        get { toOneProperty(PropertyNumber.badge.rawValue) }
        @available(*, unavailable, message: "call try await badge.set(object)")
        set {}
    }

    /// The relationship `boss`.
    public var boss: ToOne<Keeper?> {
        get { toOneProperty(PropertyNumber.boss.rawValue) }
        @available(*, unavailable, message: "call try await boss.set(object)")
        set {}
    }

    /// The relationship `club`.
    public var club: ToOne<Club> {
        get { toOneProperty(PropertyNumber.club.rawValue) }
        @available(*, unavailable, message: "call try await club.set(object)")
        set {}
    }

    /// The relationship `clubs`.
    public var clubs: ToMany<Club> {
        toManyProperty(PropertyNumber.clubs.rawValue)
    }

    /// The relationship `keeperSet`.
    public var keepers: ToMany<Keeper> {
        toManyProperty(PropertyNumber.keepers.rawValue)
    }

    /// The relationship `membershipSet`.
    public var memberships: ToMany<Membership> {
        toManyProperty(PropertyNumber.memberships.rawValue)
    }

    /// The relationship `petSet`.
    public var pets: ToMany<Pet> {
        toManyProperty(PropertyNumber.pets.rawValue)
    }
}

extension Keeper {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int,
        name: String? = nil,
        code: String,
        story: String? = nil,
        words: PostgresTSVector? = nil,
        age: Int? = nil,
        rank: Int,
        size: Int,
        score: Double? = nil,
        ratio: Float? = nil,
        price: PostgresNumeric? = nil,
        active: Bool? = nil,
        visible: Bool,
        mood: Mood? = nil,
        token: UUID? = nil,
        born: PostgresDate? = nil,
        seen: PostgresTimestamp? = nil,
        lasting: PostgresInterval? = nil,
        tags: [String?]? = nil,
        numbers: [Int?],
        info: PostgresJSON? = nil,
        notes: PostgresJSON? = nil,
        club: some ToOneValue<Club>,
        boss: some OptionalToOneValue<Keeper> = Keeper?.none
    ) -> NewValues<Keeper> {
        var values = NewValues<Keeper>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.code.rawValue, code)
        values.setProperty(PropertyNumber.story.rawValue, story)
        values.setProperty(PropertyNumber.words.rawValue, words)
        values.setProperty(PropertyNumber.age.rawValue, age)
        values.setProperty(PropertyNumber.rank.rawValue, rank)
        values.setProperty(PropertyNumber.size.rawValue, size)
        values.setProperty(PropertyNumber.score.rawValue, score)
        values.setProperty(PropertyNumber.ratio.rawValue, ratio)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setProperty(PropertyNumber.active.rawValue, active)
        values.setProperty(PropertyNumber.visible.rawValue, visible)
        values.setProperty(PropertyNumber.mood.rawValue, mood)
        values.setProperty(PropertyNumber.token.rawValue, token)
        values.setProperty(PropertyNumber.born.rawValue, born)
        values.setProperty(PropertyNumber.seen.rawValue, seen)
        values.setProperty(PropertyNumber.lasting.rawValue, lasting)
        values.setProperty(PropertyNumber.tags.rawValue, tags)
        values.setProperty(PropertyNumber.numbers.rawValue, numbers)
        values.setProperty(PropertyNumber.info.rawValue, info)
        values.setProperty(PropertyNumber.notes.rawValue, notes)
        values.setToOne(PropertyNumber.club.rawValue, columns: [PropertyNumber.clubID.rawValue], club)
        values.setToOne(PropertyNumber.boss.rawValue, columns: [PropertyNumber.bossID.rawValue], boss)
        return values
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
