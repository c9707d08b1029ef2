import Hummingbird
import Kindred
import TrackerModels

/// `/projects`: what is to be done, and by whom.
struct ProjectRoutes {
    func add(to group: RouterGroup<TrackerRequestContext>) {
        group.get(use: list)
        group.get(":project/tickets", use: tickets)
        group.post(":project/tickets", use: create)
        group.get(":project/members", use: members)
        group.put(":project/members/:person", use: setMember)
    }

    /// `GET /projects`: each with the first three tickets that are not done.
    ///
    /// Three statements, whatever the number of projects. No condition names the organization, nor that a ticket is not deleted:
    /// policies and the table's filter do.
    @Sendable func list(_ request: Request, _ context: TrackerRequestContext) async throws -> ProjectList {
        let projects = try await context.database.fetch(Project.self)
            .sorted { $0.name }
            .prefetch(\.tickets) { $0.where { $0.status != .done }.sorted { $0.position }.limit(3) }
            .views(\.id, \.name, \.tickets.id, \.tickets.title, \.tickets.assignee.name, keys: .properties)
        return ProjectList(projects: projects)
    }

    /// `GET /projects/1/tickets?size=20&after=CURSOR`: a page of the tickets in their order, and how many there are.
    @Sendable func tickets(_ request: Request, _ context: TrackerRequestContext) async throws -> TicketPage {
        let query = request.uri.queryParameters
        let size = min(max(query.get("size", as: Int.self) ?? 20, 1), 100)
        let cursor = try query.get("after").map { try PageCursor($0) }
        let page = try await project(in: context).tickets
            .sorted { $0.position }
            .page(size: size, after: cursor, withTotal: true)
        let tickets = try await page.views(\.id, \.title, \.status, \.assignee.name, keys: .properties)
        return TicketPage(tickets: tickets, total: page.total ?? 0, next: page.next)
    }

    /// `POST /projects/1/tickets` with `{"title": "…", "assignee": 2}`: the ticket becomes the last one.
    @Sendable func create(
        _ request: Request, _ context: TrackerRequestContext
    ) async throws -> EditedResponse<ObjectView> {
        let new = try await request.decode(as: NewTicket.self, context: context)
        let database = try context.database
        let project = try await project(in: context)
        var assignee: Person?
        if let number = new.assignee {
            assignee = try await database.get(Person.self, context.organization, number)
        }
        let ticket = try database.add(Ticket.new(title: new.title, project: project, assignee: assignee))
        try await database.save()
        return EditedResponse(status: .created, response: try await ticket.summary())
    }

    /// `GET /projects/1/members?role=lead`: people, by what the pair of project and person says.
    @Sendable func members(_ request: Request, _ context: TrackerRequestContext) async throws -> MemberList {
        var members = try await project(in: context).members.sorted { $0.name }
        if let label = request.uri.queryParameters.get("role") {
            let role = try role(label)
            members = try members.where(through: Membership.self) { $0.role == role }
        }
        return MemberList(members: try await members.views(\.id, \.name, keys: .properties))
    }

    /// `PUT /projects/1/members/3` with `{"role": "guest"}`: one INSERT, which changes the role of who is a member already.
    @Sendable func setMember(
        _ request: Request, _ context: TrackerRequestContext
    ) async throws -> HTTPResponse.Status {
        let role = try role(try await request.decode(as: NewMember.self, context: context).role)
        let project = try await project(in: context)
        let person = try await context.database.get(
            Person.self, context.organization, context.number("person"))
        // The columns of the pair have no key paths of the set.
        try await project.members.insert(person, through: ["role": role])
        return .noContent
    }

    private func project(in context: TrackerRequestContext) async throws -> Project {
        try await context.database.get(Project.self, context.organization, context.number("project"))
    }

    private func role(_ label: String) throws -> MembershipRole {
        let role = MembershipRole(rawValue: label)
        guard MembershipRole.allCases.contains(role) else {
            throw HTTPError(.unprocessableContent, message: "There is no role \(label)")
        }
        return role
    }
}

struct ProjectList: ResponseEncodable {
    let projects: [ObjectView]
}

struct TicketPage: ResponseEncodable {
    let tickets: [ObjectView]
    let total: Int
    let next: PageCursor?
}

struct MemberList: ResponseEncodable {
    let members: [ObjectView]
}

struct NewTicket: Decodable {
    let title: String
    let assignee: Int?
}

struct NewMember: Decodable {
    let role: String
}
