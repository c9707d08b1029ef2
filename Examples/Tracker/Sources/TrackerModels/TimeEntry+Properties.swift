// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension TimeEntry: KeyedObject {
    /// The class of the objects.
    public typealias Target = TimeEntry
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.time_entry`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "time_entry",
        [
            .attribute(\TimeEntry.organizationID, "organization_id", "integer", name: "organizationID"),
            .attribute(\TimeEntry.id, "id", "integer"),
            .attribute(\TimeEntry.minutes, "minutes", "integer"),
            .attribute(\TimeEntry.day, "day", "date"),
            .attribute(\TimeEntry.ticketID, "ticket_id", "integer", name: "ticketID"),
            .attribute(\TimeEntry.personID, "person_id", "integer", name: "personID"),
            .toOne(\TimeEntry.person, "public_time_entry_person__time_entries", name: "person"),
            .toOne(\TimeEntry.ticket, "public_time_entry_ticket__time_entries", name: "ticket"),
        ]
    )
}

extension TimeEntry {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case organizationID
        case id
        case minutes
        case day
        case ticketID
        case personID
        case person
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

    /// The column `minutes`; 0 while a new object has no value.
    public var minutes: Int {
        get { readProperty(PropertyNumber.minutes.rawValue) }
        set { writeProperty(PropertyNumber.minutes.rawValue, newValue) }
    }

    /// The column `day`; 1970-01-01 while a new object has no value.
    public var day: PostgresDate {
        get { readProperty(PropertyNumber.day.rawValue) }
        set { writeProperty(PropertyNumber.day.rawValue, newValue) }
    }

    /// The column `ticket_id`; 0 while a new object has no value.
    public var ticketID: Int {
        get { readProperty(PropertyNumber.ticketID.rawValue) }
        set { writeProperty(PropertyNumber.ticketID.rawValue, newValue) }
    }

    /// The column `person_id`; 0 while a new object has no value.
    public var personID: Int {
        get { readProperty(PropertyNumber.personID.rawValue) }
        set { writeProperty(PropertyNumber.personID.rawValue, newValue) }
    }

    /// The relationship `person`.
    public var person: ToOne<Person> {
        get { toOneProperty(PropertyNumber.person.rawValue) }
        @available(*, unavailable, message: "call try await person.set(object)")
        set {}
    }

    /// The relationship `ticket`.
    public var ticket: ToOne<Ticket> {
        get { toOneProperty(PropertyNumber.ticket.rawValue) }
        @available(*, unavailable, message: "call try await ticket.set(object)")
        set {}
    }
}

extension TimeEntry {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        minutes: Int,
        day: PostgresDate,
        person: some ToOneValue<Person>,
        ticket: some ToOneValue<Ticket>
    ) -> NewValues<TimeEntry> {
        var values = NewValues<TimeEntry>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.minutes.rawValue, minutes)
        values.setProperty(PropertyNumber.day.rawValue, day)
        values.setToOne(
            PropertyNumber.person.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.personID.rawValue],
            person
        )
        values.setToOne(
            PropertyNumber.ticket.rawValue,
            columns: [PropertyNumber.organizationID.rawValue, PropertyNumber.ticketID.rawValue],
            ticket
        )
        return values
    }
}

extension TypedObject where Self: TimeEntry {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var day: Date {
        get { Date() }
        set {}
    }
}
