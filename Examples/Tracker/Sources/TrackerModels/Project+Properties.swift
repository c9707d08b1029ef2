// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Project: KeyedObject {
    /// The class of the objects.
    public typealias Target = Project
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.project`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "project",
        [
            .attribute(\Project.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Project.id, "id", "integer"),
            .attribute(\Project.name, "name", "text"),
            .toMany(\Project.documents, "public_document_project__documents", name: "documents"),
            .toMany(\Project.members, "public_membership_project__memberships_person__memberships", name: "members"),
            .toMany(\Project.memberships, "public_membership_project__memberships", name: "memberships"),
            .toOne(\Project.organization, "public_project_organization__projects", name: "organization"),
            .toMany(\Project.tickets, "public_ticket_project__tickets", name: "tickets"),
        ]
    )
}

extension Project {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case name
        case documents
        case members
        case memberships
        case organization
        case tickets
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

    /// The relationship `documents`.
    public var documents: ToMany<Document> {
        toManyProperty(PropertyNumber.documents.rawValue)
    }

    /// The relationship `members`.
    public var members: ToMany<Person> {
        toManyProperty(PropertyNumber.members.rawValue)
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

    /// The relationship `tickets`.
    public var tickets: ToMany<Ticket> {
        toManyProperty(PropertyNumber.tickets.rawValue)
    }
}

extension Project {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        name: String,
        organization: some ToOneValue<Organization>
    ) -> NewValues<Project> {
        var values = NewValues<Project>()
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
