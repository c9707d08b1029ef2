import Hummingbird
import Kindred
import KindredTesting
import Testing
import TrackerModels
import TrackerServer

/// Rows of another organization are not there, whichever way they are asked for.
@Suite(.database(.migrations("../../Migrations")))
struct TenantTests {
    @Test func everyEndpointAnswersThatThereIsNothing() async throws {
        // Project 3, ticket 8, document 3 and the people 4 and 5 are Globex's.
        let requests: [(HTTPRequest.Method, String, String?, Int)] = [
            (.get, "/projects/3/tickets", nil, 1),
            (.post, "/projects/3/tickets", #"{"title": "Stolen"}"#, 1),
            (.post, "/projects/1/tickets", #"{"title": "For another", "assignee": 4}"#, 2),
            (.get, "/projects/3/members", nil, 1),
            (.put, "/projects/3/members/1", #"{"role": "lead"}"#, 1),
            (.put, "/projects/1/members/4", #"{"role": "guest"}"#, 2),
            (.get, "/tickets/8", nil, 1),
            (.patch, "/tickets/8", #"{"title": "Changed"}"#, 1),
            (.delete, "/tickets/8", nil, 1),
            (.post, "/tickets/8/restore", nil, 1),
            (.post, "/tickets/8/move", #"{"to": 0}"#, 1),
            (.get, "/documents/3", nil, 1),
        ]
        try await withTracker { tracker in
            let before = try await tracker.number("SELECT count(*) FROM ticket")
            for (method, uri, body, statements) in requests {
                try await tracker.send(method, uri, body: body, status: .notFound, statements: statements)
            }
            #expect(try await tracker.number("SELECT count(*) FROM ticket") == before)
            #expect(try await tracker.number("SELECT count(*) FROM membership") == 5)
            let unchanged: SQL = "SELECT count(*) FROM ticket WHERE title = 'Find more fuel' AND deleted_at IS NULL"
            #expect(try await tracker.number(unchanged) == 1)
            // Their owner finds them.
            let globex = tracker.with("globex")
            #expect(try await globex.send(.get, "/tickets/8", statements: nil)["title"].text == "Find more fuel")
            let projects = try await globex.send(.get, "/projects", statements: 3)["projects"].elements
            #expect(projects.map { $0["name"].text } == ["Rockets"])
            let efforts = try await globex.send(.get, "/report", statements: 1)["efforts"].elements
            #expect(efforts.map { $0["minutes"].number } == [30])
        }
    }

    @Test func aReferenceToAnotherOrganizationIsRefused() async throws {
        try await withTracker { tracker in
            try await tracker.send(
                .patch, "/tickets/2", body: #"{"assigneeID": 4}"#, status: .conflict, statements: nil)
            #expect(try await tracker.number("SELECT assignee_id FROM ticket WHERE id = 2") == 2)
        }
    }

    @Test func nobodyIsServedWithoutAToken() async throws {
        try await withTracker { tracker in
            for token in [nil, "initech"] {
                try await tracker.with(token).send(.get, "/projects", status: .unauthorized, statements: 0)
            }
        }
    }

    @Test func policiesHoldWhereAProgramForgetsTheOrganization() async throws {
        let database = try await connectTracker(TestDatabase.current.uri)
        let context = try database.makeContext(settings: ["app.organization": 1], role: "tracker_request")
        #expect(try await context.fetch(Ticket.self).unfiltered().count() == 7)
        #expect(try await context.fetch(Person.self).sorted { $0.id }.select(\.name).all() == ["Ada", "Ben", "Chiara"])
        // A key that names the other organization finds nothing.
        #expect(try await context.find(Ticket.self, 2, 8) == nil)
        let refused = await #expect(throws: (any Error).self) {
            try await context.create(Project.new(name: "Spy", organization: .key(2)))
        }
        #expect((refused as? any CategorizedError)?.category == .forbidden)
        #expect(try await context.fetch(Ticket.self).unfiltered().where { $0.id == 8 }.delete(permanently: true) == 0)
        // A context that knows no organization sends nothing.
        let (_, recorder) = await recordingStatements {
            let error = await #expect(throws: KindredError.self) {
                try await database.makeContext().fetch(Ticket.self).all()
            }
            #expect(error?.code == .missingSettings)
        }
        #expect(recorder.statements.isEmpty)
        await database.close()
    }
}
