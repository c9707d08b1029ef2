import KindredDDL
import KindredPostgres

/// A script of one side, for a scratch database.
struct ScratchScript {
    let name: String
    private let text: String

    /// Takes a script over, without the commands that recent versions of pg_dump write for psql.
    init(_ text: String, name: String) throws {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("\\restrict ") || line.hasPrefix("\\unrestrict ") {
                lines[index] = ""
            } else if line.hasPrefix("COPY "), line.contains(" FROM stdin;") {
                throw SchemaDifferencesError(
                    .invalidSource,
                    "\(name):\(index + 1): The script holds rows for COPY; write it with pg_dump --schema-only.")
            }
        }
        self.text = lines.joined(separator: "\n")
    }

    /// A statement that was not run, since it needs a superuser or something that another such statement would have made.
    struct LeftOutStatement {
        let line: String
        /// The thing that it would have made or changed; nil where that is not known.
        let thing: StatedThing?
    }

    /// The script needs to be run statement by statement, since some are left out.
    private struct NeedsSuperuser: Error {}

    /// Lends a database in which the script has run, with the statements that were left out.
    func withDatabase<T>(
        of server: ScratchServer, after first: [FirstExtension] = [],
        _ body: (PostgresClient, [LeftOutStatement]) async throws -> T
    ) async throws -> T {
        let all = SQLScanner.statements(in: text)
        let listed = all.compactMap { StatementWords($0.text).extensionToMake }.filter {
            server.listed.contains($0.name)
        }
        if listed.isEmpty {
            do {
                return try await server.withDatabase(first) { client in
                    try await run(on: client, of: server)
                    return try await body(client, [])
                }
            } catch is NeedsSuperuser {}
        }
        return try await server.withDatabase(first + listed) { client in
            try await body(client, try await run(all, on: client, of: server, without: listed))
        }
    }

    /// Runs the script by one message; roles that it names and the server lacks are made.
    private func run(on client: PostgresClient, of server: ScratchServer) async throws {
        try await admitOwners(to: client, of: server)
        var roles: Set<ServerText> = []
        while true {
            do {
                let text = text
                // Each statement has the server's limit; this limit is for statements that cannot be cancelled.
                return try await server.limited(.seconds(600), name) { try await client.runScript(text) }
            } catch let error as PostgresError {
                if error.sqlState == .insufficientPrivilege { throw NeedsSuperuser() }
                guard let role = Self.missingRole(error), roles.count < 100, roles.insert(role) else {
                    throw failure(error)
                }
                try await server.makeRole(role)
            } catch let error as TookTooLong {
                throw SchemaDifferencesError(.scriptFailed, "\(error.message).")
            }
        }
    }

    private func admitOwners(to client: PostgresClient, of server: ScratchServer) async throws {
        let words = text.lowercased()
        if ["owner", "authorization", "role"].contains(where: words.contains) {
            try await server.admitOwners(to: client)
        }
    }

    private static func missingRole(_ error: PostgresError) -> String? {
        guard error.sqlState?.rawValue == "42704", let message = error.server?.message,
            message.hasPrefix("role \""), message.hasSuffix("\" does not exist")
        else { return nil }
        return String(message.dropFirst("role \"".count).dropLast("\" does not exist".count))
    }

    // MARK: Statement by statement

    /// Runs the statements one by one, except statements that an ordinary role may not run, and statements that need
    /// the things that such a statement makes.
    private func run(
        _ statements: [SQLScanner.ScriptStatement], on client: PostgresClient, of server: ScratchServer,
        without listed: [FirstExtension]
    ) async throws -> [LeftOutStatement] {
        try await admitOwners(to: client, of: server)
        // The schemas of the listed extensions exist already, too.
        let schemas = Set(texts: listed.map(\.schema))
        var leftOut: [LeftOutStatement] = []
        try await client.withConnection { _ in
            for statement in statements {
                let words = StatementWords(statement.text)
                let isDone =
                    words.isTransactionControl
                    || (words.extensionToMake.map { item in listed.contains { $0.name == item.name } } ?? false)
                    || (words.schemaToMake.map { schemas.contains($0) } ?? false)
                if isDone { continue }
                if let left = try await run(statement, words, on: client, of: server, !leftOut.isEmpty) {
                    leftOut.append(left)
                }
            }
        }
        return leftOut
    }

    private func run(
        _ statement: SQLScanner.ScriptStatement, _ words: StatementWords, on client: PostgresClient,
        of server: ScratchServer, _ mayLack: Bool
    ) async throws -> LeftOutStatement? {
        var roles: Set<ServerText> = []
        while true {
            do {
                try await ScratchServer.run(statement.text, on: client)
                return nil
            } catch let error as PostgresError {
                if let role = Self.missingRole(error), roles.count < 100, roles.insert(role) {
                    try await server.makeRole(role)
                    continue
                }
                if words.thing?.isTrackings == true { return nil }
                let needed: Set<SQLState> = [
                    .undefinedObject, .undefinedFunction, .undefinedTable, .undefinedColumn, .invalidSchemaName,
                ]
                let isRefused = error.sqlState == .insufficientPrivilege
                guard isRefused || mayLack && error.sqlState.map(needed.contains) == true else {
                    throw failure(error, at: statement)
                }
                // Roles belong to the whole server; stand-ins take the place of the roles that a script makes.
                if let role = words.roleToMake {
                    try await server.makeRole(role)
                    return nil
                }
                if isRefused, words.isAboutExtensionsComment { return nil }
                let start = statement.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                let shown = start.count > 80 ? start.prefix(80) + "…" : start[...]
                return LeftOutStatement(
                    line: "\(name):\(statement.line): \(shown): \(error.server?.message ?? error.message).",
                    thing: words.thing)
            }
        }
    }

    private func failure(_ error: PostgresError, at statement: SQLScanner.ScriptStatement? = nil)
        -> SchemaDifferencesError
    {
        var place = name
        let (text, start) = (statement?.text ?? text, statement?.line ?? 1)
        if let position = error.server?.position {
            let line = text.unicodeScalars.prefix(max(position - 1, 0)).reduce(start) { $1 == "\n" ? $0 + 1 : $0 }
            place += ":\(line)"
        } else if let statement {
            place += ":\(statement.line)"
        }
        return SchemaDifferencesError(.scriptFailed, "\(place): \(error.server?.message ?? error.message)")
    }
}
