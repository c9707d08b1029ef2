// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Ticket: KeyedObject {
    /// The class of the objects.
    public typealias Target = Ticket
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.ticket`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "ticket",
        [
            .attribute(\Ticket.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Ticket.id, "id", "integer"),
            .attribute(\Ticket.title, "title", "text"),
            .attribute(\Ticket.status, "status", "enum"),
            .attribute(\Ticket.position, "position", "integer"),
            .attribute(\Ticket.createdAt, "created_at", "timestamp with time zone", name: "createdAt"),
            .attribute(\Ticket.deletedAt, "deleted_at", "timestamp with time zone", name: "deletedAt"),
            .attribute(\Ticket.projectID, "project_id", "integer", name: "projectID"),
            .attribute(\Ticket.assigneeID, "assignee_id", "integer", name: "assigneeID"),
            .toOne(\Ticket.assignee, "public_ticket_assignee__tickets", name: "assignee"),
            .toMany(\Ticket.comments, "public_comment_ticket__comments", name: "comments"),
            .toOne(\Ticket.project, "public_ticket_project__tickets", name: "project"),
            .toMany(\Ticket.timeEntries, "public_time_entry_ticket__time_entries", name: "timeEntries"),
        ]
    )
}

extension Ticket {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case title
        case status
        case position
        case createdAt
        case deletedAt
        case projectID
        case assigneeID
        case assignee
        case comments
        case project
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

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `status`; the first label while a new object has no value.
    public var status: TicketStatus {
        get { readProperty(PropertyNumber.status.rawValue) }
        set { writeProperty(PropertyNumber.status.rawValue, newValue) }
    }

    /// The column `position`; 0 while a new object has no value.
    public var position: Int {
        get { readProperty(PropertyNumber.position.rawValue) }
        set { writeProperty(PropertyNumber.position.rawValue, newValue) }
    }

    /// The column `created_at`; 1970-01-01 while a new object has no value.
    public var createdAt: PostgresTimestamp {
        get { readProperty(PropertyNumber.createdAt.rawValue) }
        set { writeProperty(PropertyNumber.createdAt.rawValue, newValue) }
    }

    /// The column `deleted_at`.
    public var deletedAt: PostgresTimestamp? {
        get { readProperty(PropertyNumber.deletedAt.rawValue) }
        set { writeProperty(PropertyNumber.deletedAt.rawValue, newValue) }
    }

    /// The column `project_id`; 0 while a new object has no value.
    public var projectID: Int {
        get { readProperty(PropertyNumber.projectID.rawValue) }
        set { writeProperty(PropertyNumber.projectID.rawValue, newValue) }
    }

    /// The column `assignee_id`.
    public var assigneeID: Int? {
        get { readProperty(PropertyNumber.assigneeID.rawValue) }
        set { writeProperty(PropertyNumber.assigneeID.rawValue, newValue) }
    }

    /// The relationship `assignee`.
    public var assignee: ToOne<Person?> {
        get { toOneProperty(PropertyNumber.assignee.rawValue) }
        @available(*, unavailable, message: "call try await assignee.set(object)")
        set {}
    }

    /// The relationship `comments`.
    public var comments: ToMany<Comment> {
        toManyProperty(PropertyNumber.comments.rawValue)
    }

    /// The relationship `project`.
    public var project: ToOne<Project> {
        get { toOneProperty(PropertyNumber.project.rawValue) }
        @available(*, unavailable, message: "call try await project.set(object)")
        set {}
    }

    /// The relationship `time_entries`.
    public var timeEntries: ToMany<TimeEntry> {
        toManyProperty(PropertyNumber.timeEntries.rawValue)
    }
}

extension Ticket {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        title: String,
        status: TicketStatus? = nil,
        position: Int? = nil,
        createdAt: PostgresTimestamp? = nil,
        deletedAt: PostgresTimestamp? = nil,
        project: some ToOneValue<Project>,
        assignee: some OptionalToOneValue<Person> = Person?.none
    ) -> NewValues<Ticket> {
        var values = NewValues<Ticket>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.status.rawValue, status)
        values.setProperty(PropertyNumber.position.rawValue, position)
        values.setProperty(PropertyNumber.createdAt.rawValue, createdAt)
        values.setProperty(PropertyNumber.deletedAt.rawValue, deletedAt)
        values.setToOne(
            PropertyNumber.project.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.projectID.rawValue],
            project
        )
        values.setToOne(
            PropertyNumber.assignee.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.assigneeID.rawValue],
            assignee
        )
        return values
    }
}

extension TypedObject where Self: Ticket {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var createdAt: Date {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var deletedAt: Date? {
        get { Date() }
        set {}
    }
}
