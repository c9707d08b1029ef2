// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Club: KeyedObject {
    /// The class of the objects.
    public typealias Target = Club
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case keysValue
        case clubKeepers
        case members
        case memberships
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

    /// The column `keys`.
    public var keysValue: PostgresRange<UUID>? {
        get { readProperty(PropertyNumber.keysValue.rawValue) }
        set { writeProperty(PropertyNumber.keysValue.rawValue, newValue) }
    }

    /// The relationship `keeperSet`.
    public var clubKeepers: ToMany<Keeper> {
        toManyProperty(PropertyNumber.clubKeepers.rawValue)
    }

    /// The relationship `members`.
    public var members: ToMany<Keeper> {
        toManyProperty(PropertyNumber.members.rawValue)
    }

    /// The relationship `membershipSet`.
    public var memberships: ToMany<Membership> {
        toManyProperty(PropertyNumber.memberships.rawValue)
    }
}

extension Club {
    /// The values of a new row; the database fills what is nil.
    public static func new(id: Int, name: String? = nil, keysValue: PostgresRange<UUID>? = nil) -> NewValues<Club> {
        var values = NewValues<Club>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.keysValue.rawValue, keysValue)
        return values
    }
}
