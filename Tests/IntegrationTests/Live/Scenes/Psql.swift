import EmbeddedPostgres
import Foundation
import KindredTesting
import Subprocess

/// psql: another program, which knows nothing of this library.
struct Psql {
    struct Failure: Error {
        let message: String
    }

    private let program: String
    private let uri: String

    /// Whether the program came with the server.
    static var isInstalled: Bool {
        get async { await program() != nil }
    }

    private static func program() async -> String? {
        guard let folder = try? await PostgresInstallation.find().binFolder else { return nil }
        return FileManager.default.isExecutableFile(atPath: folder + "/psql") ? folder + "/psql" : nil
    }

    /// Restores a dump of the test's database in another.
    static func restore(in uri: String) async throws {
        guard let program = await program() else { throw Failure(message: "psql is not installed") }
        let result = try await Subprocess.run(
            .name("sh"),
            arguments: [
                "-c",
                #""$1/pg_dump" --dbname="$2" | "$1/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname="$3""#,
                "sh", URL(filePath: program).deletingLastPathComponent().path(), try TestDatabase.current.uri, uri,
            ], input: .none, output: .discarded, error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else { throw Failure(message: result.standardError) }
    }

    /// psql in the test's database.
    init() async throws {
        guard let program = await Self.program() else { throw Failure(message: "psql is not installed") }
        self.program = program
        uri = try TestDatabase.current.uri
    }

    /// Runs statements in a process of its own; returns once they are committed.
    ///
    /// - Returns: The lines of a query, its columns separated by spaces.
    @discardableResult
    func run(_ statements: String) async throws -> [String] {
        let words = [
            "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator= ", "--set=ON_ERROR_STOP=1",
            "--dbname=\(uri)", "--command=\(statements)",
        ]
        let result = try await Subprocess.run(
            .name("env"), arguments: Arguments([program] + words), input: .none, output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else { throw Failure(message: result.standardError) }
        return result.standardOutput.split(separator: "\n").map(String.init)
    }
}
