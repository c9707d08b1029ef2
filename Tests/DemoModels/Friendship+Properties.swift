// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Friendship: TypedObject {
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
    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `friend_id`; 0 while a new object has no value.
    public var friendID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `since`; 1970-01-01 while a new object has no value.
    public var since: PostgresDate {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `befriended_by`.
    public var befriendedBy: ToOne<Person> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await befriendedBy.set(object)")
        set {}
    }

    /// The relationship `friends`.
    public var friends: ToOne<Person> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await friends.set(object)")
        set {}
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
