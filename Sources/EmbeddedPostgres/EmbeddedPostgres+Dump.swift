import Subprocess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension EmbeddedPostgres {
    /// Prints the schema of one of this server's databases with the `pg_dump` beside the server's programs.
    ///
    /// Owners, comments, security labels and the schema `kindred` are left out. Reads the database in one transaction.
    ///
    /// - Parameters:
    ///   - database: The database's name.
    ///   - role: The role that reads it.
    /// - Returns: The script, or nil where the server's programs came without `pg_dump`.
    /// - Throws: ``EmbeddedPostgresError`` with code `launchFailed` if the program fails; `CancellationError`.
    package func schemaDump(of database: String, as role: String? = nil) async throws -> String? {
        let program = installation.binFolder + "/pg_dump"
        guard await offCooperativePool({ FileManager.default.isExecutableFile(atPath: program) }) else { return nil }
        do {
            let result = try await Subprocess.run(
                .name("sh"),
                arguments: [
                    "-c", #"exec "$0" "$@""#, program, "--schema-only", "--no-owner", "--no-comments",
                    "--no-security-labels", "--encoding=UTF8", "--exclude-schema=kindred",
                    "--exclude-schema=kindred_ddl",
                    "--dbname=" + (role.map { uri(database: database, role: $0) } ?? uri(database: database)),
                ],
                // The caller's settings for other servers, such as PGOPTIONS, are not this server's.
                environment: .custom(Self.dumpVariables),
                output: .string(limit: 256 << 20), error: .string(limit: 1 << 16))
            try Task.checkCancellation()
            guard result.terminationStatus.isSuccess else {
                let said = result.standardError.split(whereSeparator: \.isNewline).first.map(String.init)
                throw EmbeddedPostgresError(.launchFailed, "pg_dump failed: \(said ?? "\(result.terminationStatus)")")
            }
            return result.standardOutput
        } catch let error as SubprocessError {
            try Task.checkCancellation()
            throw EmbeddedPostgresError(.launchFailed, "pg_dump could not be run: \(error)")
        }
    }

    private static var dumpVariables: [Environment.Key: String] {
        let host = ProcessInfo.processInfo.environment
        var variables: [Environment.Key: String] = ["PATH": SearchPath.current, "LC_ALL": "C"]
        for name in ["HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
            if let value = host[name], let key = Environment.Key(rawValue: name) { variables[key] = value }
        }
        return variables
    }
}
