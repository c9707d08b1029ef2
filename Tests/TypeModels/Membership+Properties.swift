// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Membership: KeyedObject {
    /// The class of the objects.
    public typealias Target = Membership
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.membership`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "membership",
        [
            .attribute(\Membership.keeperID, "keeper_id", "integer", name: "keeperID"),
            .attribute(\Membership.clubID, "club_id", "integer", name: "clubID"),
            .toOne(\Membership.clubs, "public_membership_clubs", name: "clubs"),
            .toOne(\Membership.members, "public_membership_members", name: "members"),
        ]
    )
}

extension Membership {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case keeperID
        case clubID
        case clubs
        case members
    }

    /// The column `keeper_id`; 0 while a new object has no value.
    public var keeperID: Int {
        get { readProperty(PropertyNumber.keeperID.rawValue) }
        set { writeProperty(PropertyNumber.keeperID.rawValue, newValue) }
    }

    /// The column `club_id`; 0 while a new object has no value.
    public var clubID: Int {
        get { readProperty(PropertyNumber.clubID.rawValue) }
        set { writeProperty(PropertyNumber.clubID.rawValue, newValue) }
    }

    /// The relationship `clubs`.
    public var clubs: ToOne<Keeper> {
        get { toOneProperty(PropertyNumber.clubs.rawValue) }
        @available(*, unavailable, message: "call try await clubs.set(object)")
        set {}
    }

    /// The relationship `members`.
    public var members: ToOne<Club> {
        get { toOneProperty(PropertyNumber.members.rawValue) }
        @available(*, unavailable, message: "call try await members.set(object)")
        set {}
    }
}

extension Membership {
    /// The values of a new row; the database fills what is nil.
    public static func new(clubs: some ToOneValue<Keeper>, members: some ToOneValue<Club>) -> NewValues<Membership> {
        var values = NewValues<Membership>()
        values.setToOne(PropertyNumber.clubs.rawValue, columns: [PropertyNumber.keeperID.rawValue], clubs)
        values.setToOne(PropertyNumber.members.rawValue, columns: [PropertyNumber.clubID.rawValue], members)
        return values
    }
}
