import KindredDoctor
import KindredTesting
import Testing

/// Lends a client of the test's database.
func withDoctorClient<Value>(
    as user: String? = nil, _ body: (PostgresClient) async throws -> Value
) async throws -> Value {
    var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
    configuration.pool.acquireTimeout = .seconds(60)
    configuration.statementTimeout = .seconds(120)
    if let user { configuration.user = user }
    return try await PostgresClient.connect(configuration).lend(body)
}

extension PostgresClient {
    /// The doctor's findings in tables of any size.
    func allFindings(tenantColumn: String? = nil) async throws -> DoctorReport {
        var options = DoctorOptions()
        options.tenantColumn = tenantColumn
        options.includesSmallTables = true
        return try await Doctor.findings(of: self, options: options)
    }

    /// Runs a finding's repair as its reader would: statement by statement, outside a transaction.
    func repair(_ finding: DoctorFinding, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await run(finding.repair, sourceLocation: sourceLocation)
    }

    /// Runs all repairs of a report in its order.
    func repair(_ report: DoctorReport, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await run(report.repairs, sourceLocation: sourceLocation)
    }

    private func run(_ statements: [String], sourceLocation: SourceLocation) async throws {
        for statement in statements {
            do {
                try await query(SQL(unsafeRaw: statement))
            } catch {
                Issue.record("\(statement): \(error)", sourceLocation: sourceLocation)
            }
        }
    }
}

extension DoctorReport {
    /// The rule and place of each finding, except findings that depend on how long the server has been running.
    var keys: [String] { findings.map(\.ignoreKey).filter { !$0.hasPrefix("K104") } }

    func findings(of rule: String) -> [DoctorFinding] { findings.filter { $0.rule == rule } }
}
