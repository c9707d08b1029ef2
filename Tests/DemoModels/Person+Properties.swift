// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Person: TypedObject {
    /// The entity `public.person`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "person",
        [
            .attribute(\Person.id, "id", "integer"),
            .attribute(\Person.firstname, "firstname", "text"),
            .attribute(\Person.surname, "surname", "text"),
            .attribute(\Person.born, "born", "date"),
            .attribute(\Person.joinedAt, "joined_at", "timestamp with time zone", name: "joinedAt"),
            .toMany(\Person.befriendedBy, "public_friendship_befriended_by_friends", name: "befriendedBy"),
            .toMany(\Person.emails, "public_email_email_person_id_fkey", name: "emails"),
            .toMany(\Person.friendFriendships, "public_friendship_befriended_by", name: "friendFriendships"),
            .toMany(\Person.friends, "public_friendship_friends_befriended_by", name: "friends"),
            .toOne(\Person.managedStore, "public_store_manager__managed_store", name: "managedStore"),
            .toMany(\Person.personFriendships, "public_friendship_friends", name: "personFriendships"),
            .toMany(\Person.personTitleRels, "public_person_title_rel_titles", name: "personTitleRels"),
            .toOne(\Person.profile, "public_profile_profile_person_id_fkey", name: "profile"),
            .toMany(\Person.purchases, "public_purchase_buyer__purchases", name: "purchases"),
            .toMany(\Person.titles, "public_person_title_rel_titles_people", name: "titles"),
        ]
    )
}

extension Person {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `firstname`; empty while a new object has no value.
    public var firstname: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `surname`; empty while a new object has no value.
    public var surname: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `joined_at`; 1970-01-01 while a new object has no value.
    public var joinedAt: PostgresTimestamp {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The relationship `befriended_by`.
    public var befriendedBy: ToMany<Person> {
        toManyProperty(5)
    }

    /// The relationship `emailSet`.
    public var emails: ToMany<Email> {
        toManyProperty(6)
    }

    /// The relationship `friend_friendshipSet`.
    public var friendFriendships: ToMany<Friendship> {
        toManyProperty(7)
    }

    /// The relationship `friends`.
    public var friends: ToMany<Person> {
        toManyProperty(8)
    }

    /// The relationship `managed_store`.
    public var managedStore: ToOne<Store?> {
        get { toOneProperty(9) }
        @available(*, unavailable, message: "call try await managedStore.set(object)")
        set {}
    }

    /// The relationship `person_friendshipSet`.
    public var personFriendships: ToMany<Friendship> {
        toManyProperty(10)
    }

    /// The relationship `person_title_relSet`.
    public var personTitleRels: ToMany<PersonTitleRel> {
        toManyProperty(11)
    }

    /// The relationship `profile`.
    public var profile: ToOne<Profile?> {
        get { toOneProperty(12) }
        @available(*, unavailable, message: "call try await profile.set(object)")
        set {}
    }

    /// The relationship `purchases`.
    public var purchases: ToMany<Purchase> {
        toManyProperty(13)
    }

    /// The relationship `titles`.
    public var titles: ToMany<Title> {
        toManyProperty(14)
    }
}

extension TypedObject where Self: Person {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var born: Date? {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var joinedAt: Date {
        get { Date() }
        set {}
    }
}
