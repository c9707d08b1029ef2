// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PersonTitleRel: TypedObject {
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
    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `title_id`; 0 while a new object has no value.
    public var titleID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The relationship `people`.
    public var people: ToOne<Title> {
        get { toOneProperty(2) }
        @available(*, unavailable, message: "call try await people.set(object)")
        set {}
    }

    /// The relationship `titles`.
    public var titles: ToOne<Person> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await titles.set(object)")
        set {}
    }
}
