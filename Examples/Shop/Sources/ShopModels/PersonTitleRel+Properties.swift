// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PersonTitleRel: KeyedObject {
    /// The class of the objects.
    public typealias Target = PersonTitleRel
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.person_title_rel`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "person_title_rel",
        [
            .attribute(\PersonTitleRel.personID, "person_id", "integer", name: "personID"),
            .attribute(\PersonTitleRel.titleID, "title_id", "integer", name: "titleID"),
            .toOne(\PersonTitleRel.people, "public_person_title_rel_people", name: "people"),
            .toOne(\PersonTitleRel.titles, "public_person_title_rel_titles", name: "titles"),
        ]
    )
}

extension PersonTitleRel {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case personID
        case titleID
        case people
        case titles
    }

    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The column `title_id`; 0 while a new object has no value.
    public var titleID: Int {
        get { readProperty(PropertyNumber.titleID.rawValue) }
        set { writeProperty(PropertyNumber.titleID.rawValue, newValue) }
    }

    /// The relationship `people`.
    public var people: ToOne<Title> {
        get { toOneProperty(PropertyNumber.people.rawValue) }
        @available(*, unavailable, message: "call try await people.set(object)")
        set {}
    }

    /// The relationship `titles`.
    public var titles: ToOne<Person> {
        get { toOneProperty(PropertyNumber.titles.rawValue) }
        @available(*, unavailable, message: "call try await titles.set(object)")
        set {}
    }
}

extension PersonTitleRel {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        people: some ToOneValue<Title>,
        titles: some ToOneValue<Person>
    ) -> NewValues<PersonTitleRel> {
        var values = NewValues<PersonTitleRel>()
        values.setToOne(PropertyNumber.people.rawValue, columns: [PropertyNumber.titleID.rawValue], people)
        values.setToOne(PropertyNumber.titles.rawValue, columns: [PropertyNumber.personID.rawValue], titles)
        return values
    }
}
