import EmbeddedPostgres
import Foundation
import KindredPostgres
import KindredSchemaDifferences
import TestSupport
import Testing

/// Pairs of random schemas with functions, triggers, policies and rows: `psql` runs the plan, and `pg_dump` judges it.
///
/// `KINDRED_DIFF_PAIRS` says how many, and `KINDRED_DIFF_SEED` with which seed to begin.
@Suite struct RandomProofTests {
    private static let pairs = TestAmount.number("KINDRED_DIFF_PAIRS") ?? TestAmount.of(4, full: 12)
    private static let firstSeed = UInt64(TestAmount.number("KINDRED_DIFF_SEED") ?? 1)

    @Test func whatIsProvenIsWhatPsqlMakes() async throws {
        let server = try await EmbeddedPostgres.shared()
        let tools = Tools(server: server)
        try #require(tools.areThere, "psql and pg_dump are not beside the server's programs")
        var outcomes: [Outcome: Int] = [:]
        for seed in Self.firstSeed..<Self.firstSeed + UInt64(Self.pairs) {
            do {
                outcomes[try await Self.outcome(of: seed, tools), default: 0] += 1
            } catch {
                Issue.record("Seed \(seed): \(error)")
            }
        }
        print("proofs: \(Self.pairs) pairs, \(outcomes)")
        #expect(outcomes[.proven, default: 0] > 0)
        #expect(Self.pairs < 12 || outcomes[.refusedByRows, default: 0] * 3 <= Self.pairs)
    }

    private enum Outcome { case proven, failed, refusedByRows, same }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static func outcome(of seed: UInt64, _ tools: Tools) async throws -> Outcome {
        var random = SeededGenerator(seed: seed)
        var from = RandomSchema.random(using: &random)
        from.addCode(using: &random)
        var to = from
        if random.chance(80) { to = to.changed(using: &random) }
        for _ in 0..<Int.random(in: 0...5, using: &random) { to.changeCode(using: &random) }
        let (old, new) = (from.scriptWithCode, to.scriptWithCode)
        var options = SchemaDifferences.Options()
        options.allowsDropping = true
        options.isConcurrent = random.chance(70)
        let differences = try await SchemaDifferences.between(
            .sql(old, name: "from"), .sql(new, name: "to"), options: options)
        let rows = from.rows
        return try await tools.withDatabases { changed, wanted in
            try await tools.psql(old + rows, changed)
            try await tools.psql(new, wanted)
            let error = try await tools.error(of: differences.sql, changed)
            if let error, error.hasPrefix("23") || error.hasPrefix("22") { return .refusedByRows }
            switch differences.proof {
            case .failed: return .failed
            case .skipped(let reason): throw Failure(description: "skipped: \(reason)")
            case .proven: break
            }
            if let error { throw Failure(description: "\(error)\n\(differences.sql)") }
            let named = differences.unmanaged.joined(separator: "\n")
            let left = try await Dump.differences(tools.dump(changed), tools.dump(wanted))
            for (name, line) in left where !named.contains(name) {
                throw Failure(description: "left of \(name): \(line)\n\(differences.sql)\n\(named)")
            }
            return differences.steps.isEmpty ? .same : .proven
        }
    }
}

/// The lines of a dump with the names of the things that they belong to.
private enum Dump {
    static func differences(_ left: String, _ right: String) -> [(name: String, line: String)] {
        let (first, second) = (lines(left), lines(right))
        return first.filter { second[$0.key] == nil }.map { ($0.value, "- \($0.key)") }
            + second.filter { first[$0.key] == nil }.map { ($0.value, "+ \($0.key)") }
    }

    /// The last word of each entry's name by its lines; the order of lines, and so of columns, does not count.
    private static func lines(_ dump: String) -> [String: String] {
        var (name, result) = ("", [String: String]())
        for line in dump.split(separator: "\n") {
            if line.hasPrefix("-- Name: "), let end = line.firstRange(of: "; Type: ") {
                name = String(line[..<end.lowerBound].dropFirst("-- Name: ".count))
            } else if !line.hasPrefix("--"), !line.hasPrefix("\\"), !line.contains("SEQUENCE NAME ") {
                result[line.hasSuffix(",") ? String(line.dropLast()) : String(line)] = name.suffixOfPart
            }
        }
        return result
    }
}

extension String {
    /// Without the name of the table or the word for a kind before it.
    fileprivate var suffixOfPart: String {
        for word in ["trigger", "policy", "checked"] {
            if let start = ranges(of: " \(word) ").last { return String(self[self.index(after: start.lowerBound)...]) }
        }
        return self
    }
}

/// The programs beside the embedded server's, run on its databases.
private struct Tools {
    let server: EmbeddedPostgres

    var areThere: Bool {
        ["psql", "pg_dump"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: "\(server.installation.binFolder)/\($0)")
        }
    }

    func withDatabases<T>(_ body: (String, String) async throws -> T) async throws -> T {
        let maintenance = try await PostgresClient.connect(try PostgresConfiguration(uri: server.uri))
        let names = (0..<2).map { _ in "kindred_proof_\(UInt64.random(in: 0...UInt64.max))" }
        let result: Result<T, any Error>
        do {
            for name in names {
                try await maintenance.query(
                    "CREATE DATABASE \(identifier: name) TEMPLATE template0\(unsafeRaw: server.copyStrategy)")
            }
            result = .success(try await body(names[0], names[1]))
        } catch {
            result = .failure(error)
        }
        for name in names { try await maintenance.query("DROP DATABASE IF EXISTS \(identifier: name) WITH (FORCE)") }
        await maintenance.close()
        return try result.get()
    }

    func psql(_ script: String, _ database: String) async throws {
        let (status, _, error) = try await run("psql", ["-f", "-"], database, input: script)
        try #require(status == 0, "\(error)")
    }

    /// The SQLSTATE and message of the first statement that fails.
    func error(of script: String, _ database: String) async throws -> String? {
        let (status, _, error) = try await run("psql", ["-f", "-"], database, input: script)
        guard status != 0 else { return nil }
        return error.firstRange(of: "ERROR:  ").map { String(error[$0.upperBound...]) } ?? error
    }

    func dump(_ database: String) async throws -> String {
        let (status, output, error) = try await run("pg_dump", ["--schema-only", "--no-owner"], database, input: "")
        try #require(status == 0, "\(error)")
        return output
    }

    private func run(
        _ program: String, _ arguments: [String], _ database: String, input: String
    ) async throws -> (Int32, String, String) {
        let process = Process()
        process.executableURL = URL(filePath: "\(server.installation.binFolder)/\(program)")
        let settings = program == "psql" ? ["-qX", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"] : []
        process.arguments = settings + ["-d", server.uri(database: database)] + arguments
        let folder = FileManager.default.temporaryDirectory.appending(path: "kindred-proof-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files, since pipes that are not read fill up.
        func file(_ name: String, _ text: String = "") throws -> FileHandle {
            let url = folder.appending(path: name)
            try Data(text.utf8).write(to: url)
            return try FileHandle(forUpdating: url)
        }
        process.standardInput = try file("input", input)
        process.standardOutput = try file("output")
        process.standardError = try file("error")
        try process.run()
        process.waitUntilExit()
        func text(_ name: String) throws -> String {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }
        return (process.terminationStatus, try text("output"), try text("error"))
    }
}
