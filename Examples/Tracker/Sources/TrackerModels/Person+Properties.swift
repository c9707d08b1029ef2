// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Person: KeyedObject {
    /// The class of the objects.
    public typealias Target = Person
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.person`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "person",
        [
            .attribute(\Person.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Person.id, "id", "integer"),
            .attribute(\Person.name, "name", "text"),
            .toMany(\Person.comments, "public_comment_author__comments", name: "comments"),
            .toMany(\Person.memberships, "public_membership_person__memberships", name: "memberships"),
            .toOne(\Person.organization, "public_person_organization__people", name: "organization"),
            .toMany(\Person.projects, "public_membership_person__memberships_project__memberships", name: "projects"),
            .toMany(\Person.tickets, "public_ticket_assignee__tickets", name: "tickets"),
            .toMany(\Person.timeEntries, "public_time_entry_person__time_entries", name: "timeEntries"),
        ]
    )
}

extension Person {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case name
        case comments
        case memberships
        case organization
        case projects
        case tickets
        case timeEntries
    }

    /// The column `organization_id`; 0 while a new object has no value.
    public var organizationID: Int {
        get { readProperty(PropertyNumber.organizationID.rawValue) }
        set { writeProperty(PropertyNumber.organizationID.rawValue, newValue) }
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

    /// The relationship `comments`.
    public var comments: ToMany<Comment> {
        toManyProperty(PropertyNumber.comments.rawValue)
    }

    /// The relationship `memberships`.
    public var memberships: ToMany<Membership> {
        toManyProperty(PropertyNumber.memberships.rawValue)
    }

    /// The relationship `organization`.
    public var organization: ToOne<Organization> {
        get { toOneProperty(PropertyNumber.organization.rawValue) }
        @available(*, unavailable, message: "call try await organization.set(object)")
        set {}
    }

    /// The relationship `projects`.
    public var projects: ToMany<Project> {
        toManyProperty(PropertyNumber.projects.rawValue)
    }

    /// The relationship `tickets`.
    public var tickets: ToMany<Ticket> {
        toManyProperty(PropertyNumber.tickets.rawValue)
    }

    /// The relationship `time_entries`.
    public var timeEntries: ToMany<TimeEntry> {
        toManyProperty(PropertyNumber.timeEntries.rawValue)
    }
}

extension Person {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        name: String,
        organization: some ToOneValue<Organization>
    ) -> NewValues<Person> {
        var values = NewValues<Person>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setToOne(
            PropertyNumber.organization.rawValue,
            columns: [PropertyNumber.organizationID.rawValue],
            organization
        )
        return values
    }
}
