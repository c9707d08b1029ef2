import Hummingbird
import KindredTesting
import Testing

/// Each endpoint, with the exact number of its statements.
@Suite(.database(.migrations("../../Migrations")))
struct TrackerTests {
    @Test func projectsShowTheFirstOfWhatIsToBeDone() async throws {
        try await withTracker { tracker in
            let projects = try await tracker.send(.get, "/projects", statements: 3)["projects"].elements
            #expect(projects.map { $0["name"].text } == ["Warehouse", "Website"])
            let tickets = try #require(projects.last)["tickets"].elements
            // The first is done, the third is deleted, and the sixth is one too many.
            #expect(tickets.map { $0["id"].number } == [2, 4, 5])
            #expect(tickets.map { $0["assignee"]["name"].text } == ["Ben", "Ben", nil])
        }
    }

    @Test func ticketsHavePagesAndATotal() async throws {
        try await withTracker { tracker in
            var seen: [Int?] = []
            var next: String? = ""
            while let cursor = next {
                let after = cursor.isEmpty ? "" : "&after=\(cursor)"
                // The project, the page, the total and the assignees.
                let page = try await tracker.send(.get, "/projects/1/tickets?size=2\(after)", statements: 4)
                #expect(page["total"].number == 5)
                seen += page["tickets"].elements.map { $0["id"].number }
                next = page["next"].text
            }
            #expect(seen == [1, 2, 4, 5, 6])
            try await tracker.send(
                .get, "/projects/1/tickets?after=x", status: .unprocessableContent, statements: 0)
        }
    }

    @Test func aNewTicketIsTheLast() async throws {
        try await withTracker { tracker in
            // The project, the assignee, the project's order, and the INSERT.
            let new = try await tracker.send(
                .post, "/projects/1/tickets", body: #"{"title": "Print a catalogue", "assignee": 3}"#, status: .created,
                statements: 4)
            #expect(new["status"].text == "open" && new["assignee"]["name"].text == "Chiara")
            #expect(new["position"].number == 7)
            let other = try await tracker.send(
                .post, "/projects/1/tickets", body: #"{"title": "Send it"}"#, status: .created, statements: 3)
            #expect(other["position"].number == 8 && other["assignee"] == .null)
            let refused = try await tracker.send(
                .post, "/projects/1/tickets", body: #"{"title": ""}"#, status: .unprocessableContent, statements: nil)
            #expect(refused["problems"].elements.map { $0["key"].text } == ["title"])
            #expect(try await tracker.number("SELECT count(*) FROM ticket WHERE organization_id = 1") == 9)
        }
    }

    @Test func aTicketIsShownWithItsComments() async throws {
        try await withTracker { tracker in
            // The ticket, its assignee, the comments and their authors.
            let ticket = try await tracker.send(.get, "/tickets/2", statements: 4)
            #expect(ticket["title"].text == "Write the texts" && ticket["assignee"]["name"].text == "Ben")
            let comments = ticket["comments"].elements
            #expect(Set(comments.map { $0["author"]["name"].text }) == ["Ada", "Chiara"] && comments.count == 2)
            // A deleted one is not shown.
            try await tracker.send(.get, "/tickets/3", status: .notFound, statements: 1)
        }
    }

    @Test func aChangeSetsWhatItMay() async throws {
        try await withTracker { tracker in
            // The ticket, the UPDATE and the assignee.
            let ticket = try await tracker.send(
                .patch, "/tickets/2", body: #"{"status": "done", "assigneeID": 1}"#, statements: 3)
            #expect(ticket["status"].text == "done" && ticket["assignee"]["name"].text == "Ada")
            let body = #"{"position": 1, "status": "nearly"}"#
            let refused = try await tracker.send(
                .patch, "/tickets/2", body: body, status: .unprocessableContent, statements: 1)
            #expect(refused["problems"].elements.count == 2)
        }
    }

    @Test func aDeletionMarksCommentsTooAndIsTakenBack() async throws {
        try await withTracker { tracker in
            // The ticket; its lock, the comments, and an UPDATE for either.
            try await tracker.send(.delete, "/tickets/2", status: .noContent, statements: 5)
            try await tracker.send(.get, "/tickets/2", status: .notFound, statements: 1)
            #expect(try await tracker.number("SELECT count(*) FROM comment WHERE deleted_at IS NULL") == 1)
            #expect(try await tracker.number("SELECT count(*) FROM ticket WHERE id = 2") == 1)
            // The ticket, the comments of the same moment, an UPDATE for either, and the assignee.
            let ticket = try await tracker.send(.post, "/tickets/2/restore", statements: 5)
            #expect(ticket["assignee"]["name"].text == "Ben")
            // One comment was deleted before.
            #expect(try await tracker.number("SELECT count(*) FROM comment WHERE deleted_at IS NULL") == 3)
        }
    }

    @Test func aTicketIsMoved() async throws {
        try await withTracker { tracker in
            // The ticket, the project, its tickets; then the lock, the order, and one UPDATE.
            let order = try await tracker.send(.post, "/tickets/4/move", body: #"{"to": 0}"#, statements: 6)
            #expect(order["tickets"].elements.map { $0["id"].number } == [4, 1, 2, 5, 6])
            let back = try await tracker.send(.post, "/tickets/4/move", body: #"{"to": 99}"#, statements: 6)
            #expect(back["tickets"].elements.map { $0["id"].number } == [1, 2, 5, 6, 4])
            let page = try await tracker.send(.get, "/projects/1/tickets", statements: 4)
            #expect(page["tickets"].elements.map { $0["id"].number } == [1, 2, 5, 6, 4])
        }
    }

    @Test func membersAreFoundByTheirRole() async throws {
        try await withTracker { tracker in
            func names(_ query: String = "") async throws -> [String?] {
                try await tracker.send(.get, "/projects/1/members\(query)", statements: 2)["members"].elements.map {
                    $0["name"].text
                }
            }
            #expect(try await names() == ["Ada", "Ben"])
            #expect(try await names("?role=lead") == ["Ada"])
            let guest = #"{"role": "guest"}"#
            // The project, the person, and the INSERT.
            try await tracker.send(.put, "/projects/1/members/3", body: guest, status: .noContent, statements: 3)
            try await tracker.send(.put, "/projects/1/members/2", body: guest, status: .noContent, statements: 3)
            #expect(try await names("?role=guest") == ["Ben", "Chiara"])
            try await tracker.send(
                .get, "/projects/1/members?role=king", status: .unprocessableContent, statements: 1)
        }
    }

    @Test func aTextIsReadWhenItIsAskedFor() async throws {
        try await withTracker { tracker in
            let document = try await tracker.send(.get, "/documents/1", statements: 2)
            #expect(document["title"].text == "Style")
            #expect(document["content"].text == "Plain words, short sentences.")
        }
    }

    @Test func timeIsAddedUp() async throws {
        try await withTracker { tracker in
            let efforts = try await tracker.send(.get, "/report", statements: 1)["efforts"].elements
            #expect(efforts.map { $0["person"].text } == ["Ada", "Ben", "Chiara"])
            #expect(efforts.map { $0["project"].text } == ["Website", "Website", "Warehouse"])
            #expect(efforts.map { $0["minutes"].number } == [420, 135, 60])
            let later = try await tracker.send(.get, "/report?from=2026-01-07", statements: 1)["efforts"].elements
            #expect(later.map { $0["minutes"].number } == [60, 45])
        }
    }
}
