// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Organization: KeyedObject {
    /// The class of the objects.
    public typealias Target = Organization
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.organization`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "organization",
        [
            .attribute(\Organization.id, "id", "integer"),
            .attribute(\Organization.name, "name", "text"),
            .toMany(\Organization.people, "public_person_organization__people", name: "people"),
            .toMany(\Organization.projects, "public_project_organization__projects", name: "projects"),
        ]
    )
}

extension Organization {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case people
        case projects
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

    /// The relationship `projects`.
    public var projects: ToMany<Project> {
        toManyProperty(PropertyNumber.projects.rawValue)
    }
}

extension Organization {
    /// The values of a new row; the database fills what is nil.
    public static func new(id: Int? = nil, name: String) -> NewValues<Organization> {
        var values = NewValues<Organization>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        return values
    }
}
