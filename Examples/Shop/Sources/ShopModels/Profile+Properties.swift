// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Profile: KeyedObject {
    /// The class of the objects.
    public typealias Target = Profile
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case personID
        case biography
        case languages
        case settings
        case person
    }

    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The column `biography`.
    public var biography: String? {
        get { readProperty(PropertyNumber.biography.rawValue) }
        set { writeProperty(PropertyNumber.biography.rawValue, newValue) }
    }

    /// The column `languages`; empty while a new object has no value.
    public var languages: [String?] {
        get { readArray(PropertyNumber.languages.rawValue) }
        set { writeProperty(PropertyNumber.languages.rawValue, newValue) }
    }

    /// The column `settings`; `null` while a new object has no value.
    public var settings: PostgresJSON {
        get { readProperty(PropertyNumber.settings.rawValue) }
        set { writeProperty(PropertyNumber.settings.rawValue, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person> {
        get { toOneProperty(PropertyNumber.person.rawValue) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }
}

extension Profile {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        biography: String? = nil,
        languages: [String?]? = nil,
        settings: PostgresJSON? = nil,
        person: some ToOneValue<Person>
    ) -> NewValues<Profile> {
        var values = NewValues<Profile>()
        values.setProperty(PropertyNumber.biography.rawValue, biography)
        values.setProperty(PropertyNumber.languages.rawValue, languages)
        values.setProperty(PropertyNumber.settings.rawValue, settings)
        values.setToOne(PropertyNumber.person.rawValue, columns: [PropertyNumber.personID.rawValue], person)
        return values
    }
}
