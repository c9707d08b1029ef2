import Hummingbird
import Kindred
import NIOCore
import TrackerModels

/// `/tickets`: one ticket, its changes, its place, and its deletion, which can be taken back.
struct TicketRoutes {
    func add(to group: RouterGroup<TrackerRequestContext>) {
        group.get(":ticket", use: show)
        group.patch(":ticket", use: change)
        group.delete(":ticket", use: delete)
        group.post(":ticket/restore", use: restore)
        group.post(":ticket/move", use: move)
    }

    /// `GET /tickets/2`: with its comments; 404 for a deleted one.
    @Sendable func show(_ request: Request, _ context: TrackerRequestContext) async throws -> ObjectView {
        try await ticket(in: context).view(
            \.id, \.title, \.status, \.createdAt, \.assignee.name, \.comments.text, \.comments.author.name,
            keys: .properties)
    }

    /// `PATCH /tickets/2` with `{"status": "done", "assigneeID": 1}`.
    ///
    /// The foreign key has the ticket's organization in it, so that a person of another one is a conflict.
    @Sendable func change(_ request: Request, _ context: TrackerRequestContext) async throws -> ObjectView {
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        let patch = try ObjectPatch(json: body.readableBytesView)
        let ticket = try await ticket(in: context)
        try ticket.apply(patch, allowing: [\.title, \.status, \.assigneeID])
        try await context.database.save()
        return try await ticket.summary()
    }

    /// `DELETE /tickets/2`: marks the ticket and its comments.
    @Sendable func delete(_ request: Request, _ context: TrackerRequestContext) async throws -> HTTPResponse.Status {
        try await context.database.delete(try await ticket(in: context))
        return .noContent
    }

    /// `POST /tickets/2/restore`: takes back the marks of one deletion.
    @Sendable func restore(_ request: Request, _ context: TrackerRequestContext) async throws -> ObjectView {
        let (organization, number) = (try context.organization, try context.number("ticket"))
        let database = try context.database
        // Only a request shows what is marked.
        let ticket = try await database.fetch(Ticket.self).unfiltered()
            .where { $0.organizationID == organization && $0.id == number }
            .one()
        try await database.restore(ticket)
        return try await ticket.summary()
    }

    /// `POST /tickets/4/move` with `{"to": 0}`: the ticket has that place among the project's, and the others make room.
    @Sendable func move(_ request: Request, _ context: TrackerRequestContext) async throws -> TicketOrder {
        let place = try await request.decode(as: Place.self, context: context)
        let ticket = try await ticket(in: context)
        let tickets = try await ticket.project.object.tickets
        let last = try await tickets.objects.count - 1
        try await tickets.insert(ticket, at: min(max(place.to, 0), last))
        let order = try await context.database.views(of: tickets.objects, \.id, \.title, keys: .properties)
        return TicketOrder(tickets: order)
    }

    private func ticket(in context: TrackerRequestContext) async throws -> Ticket {
        try await context.database.get(Ticket.self, context.organization, context.number("ticket"))
    }
}

extension Ticket {
    /// What a change answers with; a statement where the assignee is not in memory.
    func summary() async throws -> ObjectView {
        try await view(\.id, \.title, \.status, \.position, \.assignee.name, keys: .properties)
    }
}

struct Place: Decodable {
    let to: Int
}

struct TicketOrder: ResponseEncodable {
    let tickets: [ObjectView]
}
