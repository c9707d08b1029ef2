import ArgumentParser
import EmbeddedPostgres
import Kindred
import KindredScripts

/// `kindred demo`: the tour, on a private server with the demo database.
struct DemoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Starts a private PostgreSQL server with a demo database and walks through what Kindred does.",
        discussion: """
            The server lives in a folder of its own and is removed at the end. Each step is shown with the SQL that it sent.
            """)

    func run(in terminal: Terminal) async throws {
        terminal.print("Starting a private PostgreSQL server …")
        do {
            try await EmbeddedPostgres.withServer { server in
                let client = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
                do {
                    try await client.runScript(Scripts.demo)
                } catch {
                    await client.close()
                    throw error
                }
                await client.close()
                let database = try await Database.connect(server.uri)
                do {
                    try await DemoTour(database: database, narrator: Narrator(terminal: terminal)).run()
                } catch {
                    await database.close()
                    throw error
                }
                await database.close()
            }
        } catch let error as EmbeddedPostgresError {
            throw CommandFailure(.unavailable, error.description)
        }
    }
}
