import KindredPostgres

/// Runs one file on the task's connection.
struct MigrationRun {
    let records: MigrationRecords
    let lock: MigrationLock
    private var client: PostgresClient { records.client }

    func run(_ file: MigrationFile) async throws {
        try await lock.check()
        if file.isTransaction {
            var isRecorded = false
            do {
                try await client.withTransaction { _ in
                    try await useOwnPath()
                    for statement in file.statements { try await run(statement, of: file) }
                    // Recorded under its own name, whatever the file has set.
                    try await reset("RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL")
                    try await records.add(file, isFinished: true)
                    isRecorded = true
                }
            } catch let error as PostgresError where isRecorded && error.code == .server {
                throw MigrationError(
                    .failed,
                    "\(error.message), at the file's end, where deferred constraints are checked. The file was rolled back.",
                    file: file.name, server: error.server)
            }
        } else {
            try await records.add(file, isFinished: false)
            try await useOwnPath()
            for statement in file.statements { try await run(statement, of: file) }
            try await reset("RESET SESSION AUTHORIZATION", "RESET ROLE", "RESET ALL")
            try await records.finish(file)
        }
    }

    /// Gives the file the search path for which it was written, where the session's own looks up nothing of users.
    private func useOwnPath() async throws {
        guard let path = client.configuration.ownPath else { return }
        try await client.query("SELECT pg_catalog.set_config('search_path', \(path), false)")
    }

    private func reset(_ statements: String...) async throws {
        for text in statements { try await send(text, .lasting) }
    }

    private func run(_ statement: SQLScanner.ScriptStatement, of file: MigrationFile) async throws {
        do {
            try await send(statement.text, .lasting)
        } catch let error as PostgresError {
            var line = statement.line
            if let position = error.server?.position {
                line += statement.text.unicodeScalars.prefix(max(position - 1, 0)).reduce(0) {
                    $1 == "\n" ? $0 + 1 : $0
                }
            }
            let rest = file.isTransaction ? "The file was rolled back." : "What the file did before stays."
            // The server's words for several statements at once would not tell the author the remedy.
            let isSeveral =
                error.sqlState?.rawValue == "42601" && error.server?.position == nil
                && SQLScanner.holdsSeveral(statement.text)
            let reason =
                isSeveral
                ? "A semicolon does not end this statement, since it stands between BEGIN ATOMIC or CASE and END: write the "
                    + "function's body as a text between $$" : error.message
            throw MigrationError(
                .failed, "\(reason). \(rest)", file: file.name, line: line, server: error.server)
        }
    }

    private func send(_ text: String, _ effect: StatementText.Effect) async throws {
        try await client.execute(
            Statement(text: StatementText(oneTime: text, effect: effect, mayChangeSession: true), resultFormat: .text),
            // A change of a schema takes the time that it takes.
            timeout: .seconds(365 * 86_400))
    }
}
