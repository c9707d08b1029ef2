import ArgumentParser
import KindredPostgres
import KindredSchema

/// The options of every command that uses a database.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The database's address, such as postgres://user@host/name; by default DATABASE_URL, then PG*.",
            valueName: "url"))
    var database: String?

    /// Reads the database's model; annotations that do not fit are left out, and named on standard error.
    func readSchema(in terminal: Terminal) async throws -> DatabaseSchema {
        let (schema, problems) = try await withClient(in: terminal) { try await SchemaReader.readDiagnosed(from: $0) }
        for problem in problems {
            terminal.printError("Without an annotation that does not fit: \(problem.location): \(problem.reason)")
        }
        return schema
    }

    /// Lends a client for the database and closes it; an invalid address or unreachable database ends the command.
    func withClient<Value>(in terminal: Terminal, _ body: (PostgresClient) async throws -> Value) async throws -> Value
    {
        let configuration: PostgresConfiguration
        do {
            if let database {
                guard !database.isEmpty else {
                    throw CommandFailure(
                        .usage,
                        "--database is empty; give an address, or leave it out for DATABASE_URL and then PG*. A variable of the "
                            + "shell may be unset.")
                }
                configuration = try PostgresConfiguration(uri: database)
            } else {
                configuration = try PostgresConfiguration.fromEnvironment(terminal.environment)
            }
        } catch let error as PostgresError {
            throw CommandFailure(.usage, error.message)
        }
        let client: PostgresClient
        do {
            client = try await PostgresClient.connect(configuration)
        } catch let error as PostgresError {
            throw CommandFailure(.unavailable, error.message)
        }
        return try await client.lend(body)
    }
}
