// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Email: TypedObject {
    /// The entity `public.email`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "email",
        [
            .attribute(\Email.id, "id", "integer"),
            .attribute(\Email.address, "address", "text"),
            .attribute(\Email.personID, "person_id", "integer", name: "personID"),
            .toOne(\Email.person, "public_email_email_person_id_fkey", name: "person"),
        ]
    )
}

extension Email {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `address`; empty while a new object has no value.
    public var address: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `person_id`.
    public var personID: Int? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person?> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }
}
