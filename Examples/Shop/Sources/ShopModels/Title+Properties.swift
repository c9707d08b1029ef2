// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Title: KeyedObject {
    /// The class of the objects.
    public typealias Target = Title
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.title`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "title",
        [
            .attribute(\Title.id, "id", "integer"),
            .attribute(\Title.name, "name", "text"),
            .toMany(\Title.people, "public_person_title_rel_people_titles", name: "people"),
            .toMany(\Title.personTitleRels, "public_person_title_rel_people", name: "personTitleRels"),
        ]
    )
}

extension Title {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case people
        case personTitleRels
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The relationship `people`.
    public var people: ToMany<Person> {
        toManyProperty(PropertyNumber.people.rawValue)
    }

    /// The relationship `person_title_relSet`.
    public var personTitleRels: ToMany<PersonTitleRel> {
        toManyProperty(PropertyNumber.personTitleRels.rawValue)
    }
}

extension Title {
    /// The values of a new row; the database fills what is nil.
    public static func new(id: Int? = nil, name: String) -> NewValues<Title> {
        var values = NewValues<Title>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
