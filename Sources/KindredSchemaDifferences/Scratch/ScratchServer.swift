import EmbeddedPostgres
import KindredDDL
package import KindredPostgres

/// Databases on a private server that live as long as a closure.
///
/// Everything that comes from a database or a script runs in sessions that log in as a role of this comparison's own:
/// it owns the scratch databases, reads past policies (BYPASSRLS), is a member of the stand-ins for the schema's roles,
/// and may do nothing else. So no function that it runs reaches the machine. Tests and programs share another server;
/// this server's superuser has a random name and a password.
package struct ScratchServer {
    private let server: EmbeddedPostgres
    private let maintenance: PostgresClient
    /// The role of all sessions, except the sessions that make databases, roles and the extensions of the list.
    let role: String
    /// Extensions that are made though they are not trusted.
    let listed: Set<ServerText>
    /// The longest time of a statement.
    let statementLimit: Duration

    private static let roleStart = "kindred_scratch_"

    /// A role that is a member of all stand-ins; the sessions' roles of all comparisons are its members, since a
    /// stand-in may exist already.
    private static let all = "\(roleStart)all_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    /// A role that may make things in each schema of a script, so that ALTER … OWNER TO its members, the stand-ins, works.
    private static let owners = "\(roleStart)owners_\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    private var owners: String { Self.owners }

    private static let servers = SharedServer {
        var options = EmbeddedPostgres.Options()
        options.superuser = .random()
        options.settings = ["jit": "off", "temp_file_limit": "1GB"]
        return options
    }

    /// Starts the server, or throws why there is none.
    ///
    /// - Parameters:
    ///   - extensions: Extensions that are made though the server does not trust them.
    ///   - statementLimit: The longest time of a statement.
    ///   - body: The work.
    package static func withServer<T>(
        extensions: [String] = [], statementLimit: Duration = .seconds(10),
        _ body: (ScratchServer) async throws -> T
    ) async throws -> T {
        let server: EmbeddedPostgres
        do {
            server = try await servers.get()
        } catch let error as EmbeddedPostgresError {
            throw SchemaDifferencesError(.noServer, error.message)
        }
        let role = roleStart + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return try await connect(server.uri).lend { maintenance in
            for shared in [all, owners] {
                try await maintenance.runScript(
                    """
                    DO $$ BEGIN CREATE ROLE \(shared);
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
                    """)
            }
            try await maintenance.runScript("CREATE ROLE \(role) LOGIN BYPASSRLS IN ROLE \(all)")
            let scratch = ScratchServer(
                server: server, maintenance: maintenance, role: role, listed: Set(texts: extensions),
                statementLimit: statementLimit)
            let result: Result<T, any Error>
            do {
                result = .success(try await body(scratch))
            } catch {
                result = .failure(error)
            }
            // A task of its own, so that a cancelled comparison cleans up too.
            await Task { _ = try? await run("DROP ROLE \(role)", on: maintenance) }.value
            return try result.get()
        }
    }

    /// Lends a new database that is empty except for extensions.
    ///
    /// - Throws: `SchemaCopy.Failure` where an extension cannot be made.
    package func withDatabase<T>(
        _ extensions: [FirstExtension] = [], _ body: (PostgresClient) async throws -> T
    ) async throws -> T {
        let name = "kindred_scratch_\(UInt64.random(in: 0...UInt64.max))"
        try await Self.run(
            "CREATE DATABASE \(name) TEMPLATE template0 OWNER \(role)\(server.copyStrategy)", on: maintenance)
        let result: Result<T, any Error>
        do {
            try await make(extensions, in: name)
            // The server ends a statement; where it does not let itself be ended the client leaves, and its session goes with the
            // database.
            let client = try await Self.connect(
                server.uri(database: name, role: role), statementLimit: statementLimit)
            result = .success(try await client.lend(body))
        } catch {
            result = .failure(error)
        }
        // A task of its own, so that a cancelled comparison cleans up too.
        let maintenance = maintenance
        await Task { _ = try? await ScratchServer.run("DROP DATABASE \(name) WITH (FORCE)", on: maintenance) }.value
        return try result.get()
    }

    private static func connect(_ uri: String, statementLimit: Duration? = nil) async throws -> PostgresClient {
        var configuration = try PostgresConfiguration(uri: uri)
        configuration.pool.maximumConnections = 2
        configuration.pool.acquireTimeout = .seconds(60)
        if let limit = statementLimit {
            configuration.options = "-c statement_timeout=\(max(1, Int(limit / .milliseconds(1))))"
            configuration.statementTimeout = max(.seconds(30), limit + .seconds(5))
        }
        return try await PostgresClient.connect(configuration)
    }

    /// Runs a statement that is sent once.
    package static func run(_ statement: String, on client: PostgresClient) async throws {
        let effect: StatementText.Effect = client.isInTransaction ? .plain : .lasting
        try await client.execute(
            Statement(
                text: StatementText(oneTime: statement, effect: effect, mayChangeSession: true), resultFormat: .text))
    }

    // MARK: Extensions

    /// Makes extensions as the superuser, while nothing but they and their schemas is there that their scripts could meet.
    private func make(_ extensions: [FirstExtension], in database: String) async throws {
        guard !extensions.isEmpty else { return }
        try await Self.connect(server.uri(database: database)).lend { client in
            for item in extensions {
                do {
                    let schema = try SQLIdentifier.quote(item.schema)
                    if !item.schema.hasPrefix("pg_") {
                        try await Self.run("CREATE SCHEMA IF NOT EXISTS \(schema) AUTHORIZATION \(role)", on: client)
                    }
                    let version = try item.version.map { " VERSION \(try SQLIdentifier.quote($0))" } ?? ""
                    let name = try SQLIdentifier.quote(item.name)
                    try await Self.run(
                        "CREATE EXTENSION IF NOT EXISTS \(name) WITH SCHEMA \(schema)\(version) CASCADE", on: client)
                } catch let error as PostgresError {
                    throw SchemaCopy.Failure(
                        name: "the extension \(item.name)", reason: error.server?.message ?? error.message)
                }
            }
            for row in try await client.query(
                SQL(unsafeRaw: "SELECT fdwname::text FROM pg_catalog.pg_foreign_data_wrapper"))
            {
                let wrapper = try SQLIdentifier.quote(try row.decode(0, as: String.self) ?? "")
                try await Self.run("GRANT USAGE ON FOREIGN DATA WRAPPER \(wrapper) TO \(role)", on: client)
            }
        }
    }

    /// The state of an extension beside the server's programs.
    struct Availability {
        /// Whether every role may make it that may make schemas.
        var isTrusted = false
        var versions: Set<ServerText> = []
    }

    /// Asks the server about extensions; the answer leaves out extensions that it does not have.
    func availability(of names: Set<ServerText>) async throws -> [ServerText: Availability] {
        guard !names.isEmpty else { return [:] }
        let rows = try await maintenance.query(
            """
            SELECT v.name::text, v.version, v.trusted OR NOT v.superuser
            FROM pg_catalog.pg_available_extension_versions AS v WHERE v.name::text = ANY (\(names.texts.sorted()))
            """)
        var result: [ServerText: Availability] = [:]
        for row in rows {
            guard let name = try row.decode(0, as: String.self), let version = try row.decode(1, as: String.self) else {
                continue
            }
            result[ServerText(name), default: Availability()].versions.insert(ServerText(version))
            if try row.decode(2, as: Bool.self) == true { result[ServerText(name)]?.isTrusted = true }
        }
        return result
    }

    // MARK: Roles

    /// Makes a role that a script, a grant or a policy names; it may not log in, and the sessions' role is a member of it.
    package func makeRole(_ name: String) async throws {
        let quoted = try SQLIdentifier.quote(name)
        do {
            try await Self.run("CREATE ROLE \(quoted) NOLOGIN", on: maintenance)
        } catch let error as PostgresError where ["42710", "23505"].contains(error.sqlState?.rawValue) {
            // Another comparison has made it, or has made it meanwhile.
        }
        // Only stand-ins are granted; a schema cannot know the names of other comparisons' roles, which are random.
        let isOwn =
            name == server.connectionParameters["user"] || name.hasPrefix(Self.roleStart) || name.hasPrefix("pg_")
        guard !isOwn else { return }
        try await maintenance.runScript("GRANT \(quoted) TO \(Self.all); GRANT \(owners) TO \(quoted)")
    }

    /// Lets the stand-ins of a database own things in each schema that is there or is made from now on.
    func admitOwners(to client: PostgresClient) async throws {
        guard let database = client.configuration.database else { return }
        try await client.runScript(
            """
            GRANT CREATE ON DATABASE \(try SQLIdentifier.quote(database)) TO \(owners);
            GRANT CREATE ON SCHEMA public TO \(owners);
            ALTER DEFAULT PRIVILEGES GRANT CREATE ON SCHEMAS TO \(owners)
            """)
    }

    // MARK: Reading

    /// Reads a scratch database, without the privileges of its sessions' roles.
    package func snapshot(of client: PostgresClient) async throws -> SchemaSnapshot {
        var snapshot = try await SnapshotReader.read(from: client)
        for (name, original) in snapshot.items {
            var item = original
            item.grants.removeAll { $0.role == owners }
            let isOwn = item.roles.contains(role)
            guard isOwn || item.grants.count < original.grants.count else { continue }
            snapshot.items[name] = item
            // Default privileges that a script sets without FOR ROLE belong to the role that runs it.
            guard isOwn, case .defaultPrivileges(var privileges) = item.content else { continue }
            snapshot.items[name] = nil
            if item.grants.isEmpty, !original.grants.isEmpty { continue }
            var new = name
            new.part = name.part.replacing("of \(role) for ", with: "of the role that runs the statements for ")
            privileges.statement = privileges.statement.replacing(" FOR ROLE \(role)", with: "")
            item.content = .defaultPrivileges(privileges)
            item.roles = []
            snapshot.items[new] = item
        }
        return snapshot
    }

    /// Prints the schema of a scratch database by the server's own `pg_dump`; nil where there is none.
    func dump(of client: PostgresClient) async throws -> SchemaDump.Text? {
        guard let database = client.configuration.database else { return nil }
        let (server, role, mark) = (server, role, " TO \(owners);")
        return try await limited(.seconds(120), "pg_dump") {
            try await server.schemaDump(of: database, as: role)
        }.map { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasSuffix(mark) }
            return SchemaDump.Text(lines.joined(separator: "\n"))
        }
    }

    /// Ends work that takes too long.
    func limited<T: Sendable>(
        _ limit: Duration, _ name: String, _ body: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw TookTooLong(message: "\(name) took longer than \(limit) and was stopped")
            }
            return result
        }
    }
}

/// Work on a scratch database that was stopped.
struct TookTooLong: Error {
    let message: String
}

/// An extension that is made before all else.
package struct FirstExtension: Hashable {
    let name: String
    let schema: String
    let version: String?

    package init(name: String, schema: String, version: String? = nil) {
        (self.name, self.schema, self.version) = (name, schema, version)
    }
}

extension PostgresClient {
    /// Ends a transaction by rolling it back.
    private struct Undone: Error {}

    /// Runs a closure in a transaction that is rolled back.
    func undone<T>(_ body: () async throws -> T) async throws -> T {
        var result: T?
        do {
            try await withTransaction { _ in
                result = try await body()
                throw Undone()
            }
        } catch is Undone {}
        guard let result else {
            throw SchemaDifferencesError(.unreadable, "The transaction on the embedded server has no result.")
        }
        return result
    }
}
