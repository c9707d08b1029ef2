// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Title: TypedObject {
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
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `people`.
    public var people: ToMany<Person> {
        toManyProperty(2)
    }

    /// The relationship `person_title_relSet`.
    public var personTitleRels: ToMany<PersonTitleRel> {
        toManyProperty(3)
    }
}
