import KindredDoctor
import KindredPostgres
import KindredSchemaDifferences

/// The trial of repairs on one copy.
struct RepairAttempt {
    private let client: PostgresClient
    private let options: DoctorOptions
    /// The major versions of the copy's server and of the database's.
    private let versions: (copy: Int, database: Int)
    /// The places of annotations that do not fit on the copy as it is.
    private var misfits: Set<ServerText>
    /// The keys of findings that the copy had before any repair.
    ///
    /// Other findings are about facts that a copy lacks, such as its use.
    private let keys: Set<ServerText>
    /// The findings of the copy as it is, by their keys.
    private var present: [ServerText: DoctorFinding]
    private var written: Set<ServerText> = []
    private(set) var repairs: [RepairTrial.Repair] = []

    init(on client: PostgresClient, for report: DoctorReport, _ options: DoctorOptions) async throws {
        var options = options
        options.generated = nil
        options.includesSmallTables = true
        options.targetVersion = report.serverVersion
        (self.client, self.options) = (client, options)
        let (first, problems) = try await Doctor.examine(client, options)
        versions = (first.serverVersion / 10_000, report.serverVersion / 10_000)
        misfits = Set(texts: problems.map(\.location))
        present = Self.byKey(first)
        keys = Set(present.keys)
    }

    private static func byKey(_ report: DoctorReport) -> [ServerText: DoctorFinding] {
        Dictionary(report.findings.map { (ServerText($0.ignoreKey), $0) }) { first, _ in first }
    }

    /// Tries repairs together, and in halves where they do not fit; the copy keeps the repairs that fit.
    mutating func run(_ findings: ArraySlice<DoctorFinding>) async throws {
        let planned = findings.map { ($0, statements(for: $0)) }
        do {
            if let after = try await apply(planned) { (present, misfits) = after }
            for (finding, statements) in planned {
                let outcome: RepairTrial.Outcome = statements == nil ? .needless : .works
                note(finding, (statements ?? []).filter { written.insert($0) }, as: outcome)
            }
        } catch let refusal as Refusal {
            if let finding = findings.first, findings.count == 1 {
                note(finding, planned.first?.1 ?? [], as: outcome(of: finding, refusal))
            } else {
                let middle = findings.startIndex + findings.count / 2
                try await run(findings[..<middle])
                try await run(findings[middle...])
            }
        }
    }

    private mutating func note(
        _ finding: DoctorFinding, _ statements: [String], as outcome: RepairTrial.Outcome
    ) {
        repairs.append(RepairTrial.Repair(finding: finding, statements: statements, outcome: outcome))
    }

    /// The repair for the copy as it is; nil where the finding has gone.
    private func statements(for finding: DoctorFinding) -> [String]? {
        guard keys.contains(finding.ignoreKey) else { return finding.repair }
        return present[finding.ignoreKey]?.repair
    }

    /// The reason why the copy does not keep a repair.
    private struct Refusal: Error {
        let reason: String
        var state: SQLState?
    }

    /// Runs statements in a transaction that is kept only if the model can be read afterwards and the findings have gone.
    ///
    /// - Returns: The findings and the places of annotations that do not fit afterwards; nil if nothing was to run.
    private func apply(
        _ planned: [(DoctorFinding, [String]?)]
    ) async throws -> (findings: [ServerText: DoctorFinding], misfits: Set<ServerText>)? {
        var seen: Set<ServerText> = []
        let statements = planned.flatMap { $0.1 ?? [] }.filter { seen.insert($0) }
        if planned.contains(where: { $0.1?.isEmpty == true }) {
            throw Refusal(reason: "nothing repairs it any more behind the repairs before it")
        }
        if statements.isEmpty { return nil }
        if statements.contains(where: { $0.hasPrefix("ALTER ROLE ") }) {
            throw Refusal(reason: "it changes a role, which belongs to the server", state: .undefinedObject)
        }
        do {
            return try await client.withTransaction { _ in
                for statement in statements {
                    try await ScratchServer.run(Self.withoutConcurrently(statement), on: client)
                }
                let (report, problems) = try await Doctor.examine(client, options)
                if let problem = problems.first(where: { !misfits.contains($0.location) }) {
                    throw Refusal(reason: "afterwards no program connects: \(problem.location): \(problem.reason)")
                }
                let after = Self.byKey(report)
                let isLeft = planned.contains { finding, statements in
                    statements != nil && keys.contains(finding.ignoreKey) && after[finding.ignoreKey] != nil
                }
                if isLeft { throw Refusal(reason: "it is found afterwards, too") }
                return (after, Set(texts: problems.map(\.location)))
            }
        } catch let error as PostgresError {
            guard let server = error.server else { throw error }
            throw Refusal(reason: server.message, state: error.sqlState)
        }
    }

    /// The statement as a transaction takes it.
    private static func withoutConcurrently(_ statement: String) -> String {
        for start in ["CREATE INDEX", "CREATE UNIQUE INDEX", "DROP INDEX", "REINDEX INDEX"]
        where statement.hasPrefix("\(start) CONCURRENTLY ") {
            return start + statement.dropFirst("\(start) CONCURRENTLY".count)
        }
        return statement
    }

    /// Whether a refusal says something of the repair, or only of the copy.
    private func outcome(of finding: DoctorFinding, _ refusal: Refusal) -> RepairTrial.Outcome {
        let isOld = versions.copy < versions.database
        let unknown: Set<SQLState> = [.syntaxError, .featureNotSupported, .undefinedFunction]
        let missing: Set<SQLState> = [
            .undefinedTable, .undefinedObject, .undefinedFunction, .undefinedColumn, .invalidSchemaName,
        ]
        switch refusal.state {
        case let state? where isOld && unknown.contains(state):
            return .untried("the embedded server is of the older version \(versions.copy): \(refusal.reason)")
        case let state? where !keys.contains(finding.ignoreKey) && missing.contains(state):
            return .untried("the copy does not have it: \(refusal.reason)")
        default: return .leftOut(refusal.reason)
        }
    }
}
