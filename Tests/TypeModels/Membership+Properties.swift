// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Membership: TypedObject {
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
    /// The column `keeper_id`; 0 while a new object has no value.
    public var keeperID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `club_id`; 0 while a new object has no value.
    public var clubID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `clubs`.
    public var clubs: ToOne<Keeper> {
        get { toOneProperty(2) }
        @available(*, unavailable, message: "call try await clubs.set(object)")
        set {}
    }

    /// The relationship `members`.
    public var members: ToOne<Club> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await members.set(object)")
        set {}
    }
}
