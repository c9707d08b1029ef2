import Subprocess

extension PostgresInstallation {
    /// Runs a script with `psql`, all of it in one transaction, stopping at the first error.
    ///
    /// - Returns: What psql printed: unaligned rows without headers.
    package static func psql(_ uri: String, script: String, in binFolder: String? = nil, singleTransaction: Bool = true)
        async throws -> String
    {
        var path = SearchPath.current
        if let binFolder { path = "\(binFolder):\(path)" }
        let result = try await Subprocess.run(
            .name("psql"),
            arguments: Arguments(
                ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"] + (singleTransaction ? ["-1"] : []) + [
                    "-f", "-", uri,
                ]),
            environment: .inherit.updating(["PATH": path]),
            input: .string(script),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20))
        guard result.terminationStatus.isSuccess else {
            throw EmbeddedPostgresError(.startFailed, "psql failed:", log: result.standardError)
        }
        return result.standardOutput
    }
}
