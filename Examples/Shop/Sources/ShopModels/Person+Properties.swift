// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Person: KeyedObject {
    /// The class of the objects.
    public typealias Target = Person
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case firstname
        case surname
        case born
        case joinedAt
        case befriendedBy
        case emails
        case friendFriendships
        case friends
        case managedStore
        case personFriendships
        case personTitleRels
        case profile
        case purchases
        case titles
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `firstname`; empty while a new object has no value.
    public var firstname: String {
        get { readProperty(PropertyNumber.firstname.rawValue) }
        set { writeProperty(PropertyNumber.firstname.rawValue, newValue) }
    }

    /// The column `surname`; empty while a new object has no value.
    public var surname: String {
        get { readProperty(PropertyNumber.surname.rawValue) }
        set { writeProperty(PropertyNumber.surname.rawValue, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(PropertyNumber.born.rawValue) }
        set { writeProperty(PropertyNumber.born.rawValue, newValue) }
    }

    /// The column `joined_at`; 1970-01-01 while a new object has no value.
    public var joinedAt: PostgresTimestamp {
        get { readProperty(PropertyNumber.joinedAt.rawValue) }
        set { writeProperty(PropertyNumber.joinedAt.rawValue, newValue) }
    }

    /// The relationship `befriended_by`.
    public var befriendedBy: ToMany<Person> {
        toManyProperty(PropertyNumber.befriendedBy.rawValue)
    }

    /// The relationship `emailSet`.
    public var emails: ToMany<Email> {
        toManyProperty(PropertyNumber.emails.rawValue)
    }

    /// The relationship `friend_friendshipSet`.
    public var friendFriendships: ToMany<Friendship> {
        toManyProperty(PropertyNumber.friendFriendships.rawValue)
    }

    /// The relationship `friends`.
    public var friends: ToMany<Person> {
        toManyProperty(PropertyNumber.friends.rawValue)
    }

    /// The relationship `managed_store`.
    public var managedStore: ToOne<Store?> {
        get { toOneProperty(PropertyNumber.managedStore.rawValue) }
        @available(*, unavailable, message: "call try await managedStore.set(object)")
        set {}
    }

    /// The relationship `person_friendshipSet`.
    public var personFriendships: ToMany<Friendship> {
        toManyProperty(PropertyNumber.personFriendships.rawValue)
    }

    /// The relationship `person_title_relSet`.
    public var personTitleRels: ToMany<PersonTitleRel> {
        toManyProperty(PropertyNumber.personTitleRels.rawValue)
    }

    /// The relationship `profile`.
    public var profile: ToOne<Profile?> {
        get { toOneProperty(PropertyNumber.profile.rawValue) }
        @available(*, unavailable, message: "call try await profile.set(object)")
        set {}
    }

    /// The relationship `purchases`.
    public var purchases: ToMany<Purchase> {
        toManyProperty(PropertyNumber.purchases.rawValue)
    }

    /// The relationship `titles`.
    public var titles: ToMany<Title> {
        toManyProperty(PropertyNumber.titles.rawValue)
    }
}

extension Person {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        firstname: String,
        surname: String,
        born: PostgresDate? = nil,
        joinedAt: PostgresTimestamp? = nil
    ) -> NewValues<Person> {
        var values = NewValues<Person>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.firstname.rawValue, firstname)
        values.setProperty(PropertyNumber.surname.rawValue, surname)
        values.setProperty(PropertyNumber.born.rawValue, born)
        values.setProperty(PropertyNumber.joinedAt.rawValue, joinedAt)
        return values
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
