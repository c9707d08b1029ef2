import Hummingbird
import Kindred
import TrackerModels

/// `/report`: the time that was spent.
struct ReportRoutes {
    func add(to group: RouterGroup<TrackerRequestContext>) {
        group.get(use: report)
    }

    /// `GET /report?from=2026-01-06`: one statement; each total has the type that the compiler knows.
    @Sendable func report(_ request: Request, _ context: TrackerRequestContext) async throws -> Report {
        var entries = try context.database.fetch(TimeEntry.self)
        if let text = request.uri.queryParameters.get("from") {
            guard let day = PostgresDate(text) else {
                throw HTTPError(.unprocessableContent, message: "\(text) is no day")
            }
            entries = try entries.where { $0.day >= day }
        }
        let efforts =
            try await entries
            .group(by: { ($0.ticket.project.name, $0.person.name) }) { ($0.count, $0.sum { $0.minutes } ?? 0) }
            .sorted(ascending: false) { $0.sum { $0.minutes } }
            .all(into: Effort.init)
        return Report(efforts: efforts)
    }
}

/// What one person has spent on one project.
struct Effort: Encodable {
    let project: String
    let person: String
    let entries: Int
    let minutes: Int
}

struct Report: ResponseEncodable {
    let efforts: [Effort]
}
