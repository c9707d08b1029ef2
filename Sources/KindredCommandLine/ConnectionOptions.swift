package import ArgumentParser
package import KindredPostgres
package import KindredSchema
package import KindredTerminal

/// The options of every command that uses a database.
package struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The database's address, such as postgres://user@host/name; by default DATABASE_URL, then PG*.",
            valueName: "url"))
    package var database: String?

    package init() {}

    /// Reads the database's model.
    ///
    /// Annotations that do not fit, and tables that the role may not read, are left out, and named on standard error. A role that may
    /// read nothing ends the command.
    package func readSchema(in terminal: Terminal) async throws -> DatabaseSchema {
        let (schema, problems) = try await withClient(in: terminal) { try await SchemaReader.readDiagnosed(from: $0) }
        print(problems, in: terminal)
        if let unreadable = UnreadableTables(of: schema) {
            guard !schema.entities.isEmpty else { throw CommandFailure(.failure, unreadable.insteadOfEntities) }
            terminal.printError("\(unreadable.besidesEntities)")
        }
        return schema
    }

    /// Names annotations that do not fit on standard error.
    package func print(_ problems: [AnnotationProblem], in terminal: Terminal) {
        for problem in problems {
            terminal.printError("Without an annotation that does not fit: \(problem.location): \(problem.reason)")
        }
    }

    /// Lends a client for the database and closes it; an invalid address or unreachable database ends the command.
    ///
    /// Its sessions look up nothing in schemas of users: the database's owner decides its search path, and the command
    /// may be run by a superuser.
    ///
    /// - Parameter toPrimary: whether, of several servers, the primary is used; for that, all servers are asked.
    package func withClient<Value>(
        in terminal: Terminal, toPrimary: Bool = false, _ body: (PostgresClient) async throws -> Value
    ) async throws -> Value {
        var configuration: PostgresConfiguration
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
        if toPrimary { configuration = configuration.ofPrimary(among: []) }
        let client: PostgresClient
        do {
            client = try await PostgresClient.connectCatalogOnly(configuration)
        } catch let error as PostgresError {
            throw CommandFailure(.unavailable, error.message)
        }
        return try await client.lend(body)
    }
}

/// The tables and views of a database that the role may not read.
private struct UnreadableTables {
    private let role: String
    private let names: [QualifiedName]

    /// Nil if it may read all.
    init?(of schema: DatabaseSchema) {
        var (role, names): (String?, [QualifiedName]) = (nil, [])
        for (name, reason) in schema.hidden {
            guard case .unreadable(let reader) = reason else { continue }
            role = reader
            names.append(name)
        }
        guard let role else { return nil }
        (self.role, self.names) = (role, names.sorted())
    }

    private var count: String { names.count == 1 ? "1 table or view" : "\(names.count) tables and views" }

    var insteadOfEntities: String {
        "0 entities: the role \(role) may read none of the \(count). Grant it SELECT on them and USAGE on their schemas."
    }

    var besidesEntities: String {
        let shown = names.prefix(3).map(\.description).joined(separator: ", ")
        let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
        return "Without \(count) that the role \(role) may not read: \(shown)\(rest)."
    }
}
