// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Email: KeyedObject {
    /// The class of the objects.
    public typealias Target = Email
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.email`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "email",
        [
            .attribute(\Email.id, "id", "integer"),
            .attribute(\Email.address, "address", "text"),
            .attribute(\Email.personID, "person_id", "integer", name: "personID"),
            .attribute(\Email.deletedAt, "deleted_at", "timestamp with time zone", name: "deletedAt"),
            .toOne(\Email.person, "public_email_email_person_id_fkey", name: "person"),
        ]
    )
}

extension Email {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case address
        case personID
        case deletedAt
        case person
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `address`; empty while a new object has no value.
    public var address: String {
        get { readProperty(PropertyNumber.address.rawValue) }
        set { writeProperty(PropertyNumber.address.rawValue, newValue) }
    }

    /// The column `person_id`.
    public var personID: Int? {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The column `deleted_at`.
    public var deletedAt: PostgresTimestamp? {
        get { readProperty(PropertyNumber.deletedAt.rawValue) }
        set { writeProperty(PropertyNumber.deletedAt.rawValue, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person?> {
        get { toOneProperty(PropertyNumber.person.rawValue) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }
}

extension Email {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        address: String,
        deletedAt: PostgresTimestamp? = nil,
        person: some OptionalToOneValue<Person> = Person?.none
    ) -> NewValues<Email> {
        var values = NewValues<Email>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.address.rawValue, address)
        values.setProperty(PropertyNumber.deletedAt.rawValue, deletedAt)
        values.setToOne(PropertyNumber.person.rawValue, columns: [PropertyNumber.personID.rawValue], person)
        return values
    }
}

extension TypedObject where Self: Email {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var deletedAt: Date? {
        get { Date() }
        set {}
    }
}
