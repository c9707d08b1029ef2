// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Profile: TypedObject {
    /// The entity `public.profile`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "profile",
        [
            .attribute(\Profile.personID, "person_id", "integer", name: "personID"),
            .attribute(\Profile.biography, "biography", "text"),
            .attribute(\Profile.languages, "languages", "text[]"),
            .attribute(\Profile.settings, "settings", "json"),
            .toOne(\Profile.person, "public_profile_profile_person_id_fkey", name: "person"),
        ]
    )
}

extension Profile {
    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `biography`.
    public var biography: String? {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `languages`; empty while a new object has no value.
    public var languages: [String?] {
        get { readArray(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `settings`; `null` while a new object has no value.
    public var settings: PostgresJSON {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }
}
