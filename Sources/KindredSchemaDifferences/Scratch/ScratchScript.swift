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

    /// Runs the script in a database; roles that it names and the server lacks are made.
    func run(on client: PostgresClient, of server: ScratchServer) async throws {
        var roles: Set<ServerText> = []
        while true {
            do {
                return try await client.runScript(text)
            } catch let error as PostgresError {
                guard let role = Self.missingRole(error), roles.count < 100, roles.insert(role) else {
                    throw failure(error)
                }
                try await server.makeRole(role)
            }
        }
    }

    private static func missingRole(_ error: PostgresError) -> String? {
        guard error.sqlState?.rawValue == "42704", let message = error.server?.message,
            message.hasPrefix("role \""), message.hasSuffix("\" does not exist")
        else { return nil }
        return String(message.dropFirst("role \"".count).dropLast("\" does not exist".count))
    }

    private func failure(_ error: PostgresError) -> SchemaDifferencesError {
        var place = name
        if let position = error.server?.position {
            let line = text.unicodeScalars.prefix(max(position - 1, 0)).reduce(1) { $1 == "\n" ? $0 + 1 : $0 }
            place += ":\(line)"
        }
        return SchemaDifferencesError(.scriptFailed, "\(place): \(error.server?.message ?? error.message)")
    }
}
