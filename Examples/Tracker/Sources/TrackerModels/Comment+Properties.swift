// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Comment: KeyedObject {
    /// The class of the objects.
    public typealias Target = Comment
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.comment`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "comment",
        [
            .attribute(\Comment.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\Comment.id, "id", "integer"),
            .attribute(\Comment.text, "text", "text"),
            .attribute(\Comment.createdAt, "created_at", "timestamp with time zone", name: "createdAt"),
            .attribute(\Comment.deletedAt, "deleted_at", "timestamp with time zone", name: "deletedAt"),
            .attribute(\Comment.ticketID, "ticket_id", "integer", name: "ticketID"),
            .attribute(\Comment.authorID, "author_id", "integer", name: "authorID"),
            .toOne(\Comment.author, "public_comment_author__comments", name: "author"),
            .toOne(\Comment.ticket, "public_comment_ticket__comments", name: "ticket"),
        ]
    )
}

extension Comment {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case text
        case createdAt
        case deletedAt
        case ticketID
        case authorID
        case author
        case ticket
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

    /// The column `text`; empty while a new object has no value.
    public var text: String {
        get { readProperty(PropertyNumber.text.rawValue) }
        set { writeProperty(PropertyNumber.text.rawValue, newValue) }
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

    /// The column `ticket_id`; 0 while a new object has no value.
    public var ticketID: Int {
        get { readProperty(PropertyNumber.ticketID.rawValue) }
        set { writeProperty(PropertyNumber.ticketID.rawValue, newValue) }
    }

    /// The column `author_id`; 0 while a new object has no value.
    public var authorID: Int {
        get { readProperty(PropertyNumber.authorID.rawValue) }
        set { writeProperty(PropertyNumber.authorID.rawValue, newValue) }
    }

    /// The relationship `author`.
    public var author: ToOne<Person> {
        get { toOneProperty(PropertyNumber.author.rawValue) }
        @available(*, unavailable, message: "call try await author.set(object)")
        set {}
    }

    /// The relationship `ticket`.
    public var ticket: ToOne<Ticket> {
        get { toOneProperty(PropertyNumber.ticket.rawValue) }
        @available(*, unavailable, message: "call try await ticket.set(object)")
        set {}
    }
}

extension Comment {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        text: String,
        createdAt: PostgresTimestamp? = nil,
        deletedAt: PostgresTimestamp? = nil,
        author: some ToOneValue<Person>,
        ticket: some ToOneValue<Ticket>
    ) -> NewValues<Comment> {
        var values = NewValues<Comment>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.text.rawValue, text)
        values.setProperty(PropertyNumber.createdAt.rawValue, createdAt)
        values.setProperty(PropertyNumber.deletedAt.rawValue, deletedAt)
        values.setToOne(
            PropertyNumber.author.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.authorID.rawValue],
            author
        )
        values.setToOne(
            PropertyNumber.ticket.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.ticketID.rawValue],
            ticket
        )
        return values
    }
}

extension TypedObject where Self: Comment {
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
