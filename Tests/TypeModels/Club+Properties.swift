// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Club: TypedObject {
    /// The entity `public.club`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "club",
        [
            .attribute(\Club.id, "id", "integer"),
            .attribute(\Club.name, "name", "text"),
            .attribute(\Club.keysValue, "keys", "range(uuid)", name: "keysValue"),
            .toMany(\Club.clubKeepers, "public_keeper_keeper_club_id_fkey", name: "clubKeepers"),
            .toMany(\Club.members, "public_membership_members_clubs", name: "members"),
            .toMany(\Club.memberships, "public_membership_members", name: "memberships"),
        ]
    )
}

extension Club {
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

    /// The column `keys`.
    public var keysValue: PostgresRange<UUID>? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `keeperSet`.
    public var clubKeepers: ToMany<Keeper> {
        toManyProperty(3)
    }

    /// The relationship `members`.
    public var members: ToMany<Keeper> {
        toManyProperty(4)
    }

    /// The relationship `membershipSet`.
    public var memberships: ToMany<Membership> {
        toManyProperty(5)
    }
}
