// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Friendship: KeyedObject {
    /// The class of the objects.
    public typealias Target = Friendship
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.friendship`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "friendship",
        [
            .attribute(\Friendship.personID, "person_id", "integer", name: "personID"),
            .attribute(\Friendship.friendID, "friend_id", "integer", name: "friendID"),
            .attribute(\Friendship.since, "since", "date"),
            .toOne(\Friendship.befriendedBy, "public_friendship_befriended_by", name: "befriendedBy"),
            .toOne(\Friendship.friends, "public_friendship_friends", name: "friends"),
        ]
    )
}

extension Friendship {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case personID
        case friendID
        case since
        case befriendedBy
        case friends
    }

    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The column `friend_id`; 0 while a new object has no value.
    public var friendID: Int {
        get { readProperty(PropertyNumber.friendID.rawValue) }
        set { writeProperty(PropertyNumber.friendID.rawValue, newValue) }
    }

    /// The column `since`; 1970-01-01 while a new object has no value.
    public var since: PostgresDate {
        get { readProperty(PropertyNumber.since.rawValue) }
        set { writeProperty(PropertyNumber.since.rawValue, newValue) }
    }

    /// The relationship `befriended_by`.
    public var befriendedBy: ToOne<Person> {
        get { toOneProperty(PropertyNumber.befriendedBy.rawValue) }
        @available(*, unavailable, message: "call try await befriendedBy.set(object)")
        set {}
    }

    /// The relationship `friends`.
    public var friends: ToOne<Person> {
        get { toOneProperty(PropertyNumber.friends.rawValue) }
        @available(*, unavailable, message: "call try await friends.set(object)")
        set {}
    }
}

extension Friendship {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        since: PostgresDate? = nil,
        befriendedBy: some ToOneValue<Person>,
        friends: some ToOneValue<Person>
    ) -> NewValues<Friendship> {
        var values = NewValues<Friendship>()
        values.setProperty(PropertyNumber.since.rawValue, since)
        values.setToOne(
            PropertyNumber.befriendedBy.rawValue,
            columns: [PropertyNumber.friendID.rawValue],
            befriendedBy
        )
        values.setToOne(PropertyNumber.friends.rawValue, columns: [PropertyNumber.personID.rawValue], friends)
        return values
    }
}

extension TypedObject where Self: Friendship {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var since: Date {
        get { Date() }
        set {}
    }
}
