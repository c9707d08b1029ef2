import ArgumentParser
import EmbeddedPostgres
import KindredTerminal
import KindredTour

/// `kindred demo`: the tour, on a private server with the demo database.
struct DemoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Starts a private PostgreSQL server with a demo database and walks through what Kindred does.",
        discussion: """
            The server lives in a folder of its own and is removed at the end. Each step is shown with the SQL that it sent.
            """)

    func run(in terminal: Terminal) async throws {
        do {
            try await Tour.run(in: terminal)
        } catch let error as EmbeddedPostgresError {
            throw CommandFailure(.unavailable, error.description)
        }
    }
}
