public import KindredPostgres
package import KindredSchema

/// Finds present and coming problems of a database: `kindred doctor` as a call.
///
/// ```swift
/// let report = try await Doctor.findings(of: client)
/// #expect(!report.reaches(.warning), "\(report.findings)")
/// ```
public enum Doctor {
    /// Reads the catalog and applies every rule.
    ///
    /// One read-only transaction of three round trips, whatever the size of the schema: the model, further facts for
    /// the rules, and COMMIT. No row of any table is read, and nothing is changed. Any role may do it; parts that it
    /// may not see are among ``DoctorReport/skipped``. Inside a transaction of the task it sees that transaction's
    /// changes.
    ///
    /// - Throws: `PostgresError` if the server does, or if it takes longer than ``DoctorOptions/timeout``.
    public static func findings(
        of client: PostgresClient, options: DoctorOptions = DoctorOptions()
    ) async throws -> DoctorReport {
        try await examine(client, options).report
    }

    /// Reads and reports like ``findings(of:options:)``, and also returns the annotations that do not fit, be they
    /// ignored or not.
    package static func examine(
        _ client: PostgresClient, _ options: DoctorOptions
    ) async throws -> (report: DoctorReport, problems: [AnnotationProblem]) {
        let isAlone = !client.isInTransaction
        let (catalog, facts) = try await client.withTransaction(isolation: .repeatableRead, readOnly: true) { _ in
            let catalog = try await SchemaReader.readCatalog(from: client, isAlone: isAlone)
            var answers = try await client.readCatalog(DoctorQueries.all, isAlone: isAlone, timeout: options.timeout)
            return (catalog, try DoctorCatalog(&answers))
        }
        let examination = Examination(
            catalog, facts, generated: options.generated, tenantColumn: options.tenantColumn,
            targetVersion: options.targetVersion)
        var report = report(on: examination, options)
        report.serverVersion = facts.settings.serverVersion
        return (report, examination.problems)
    }

    /// Applies every rule to an examination: a pure function.
    static func report(on examination: Examination, _ options: DoctorOptions) -> DoctorReport {
        var findings: [DoctorFinding] = []
        var skipped: [DoctorReport.Skip] = []
        var (ignoredCount, smallTableCount) = (0, 0)
        var newNames: Set<QualifiedName> = []
        for rule in DoctorRule.all {
            var run = RuleRun(rule: rule, examination: examination, newNames: newNames)
            rule.check(&run)
            newNames = run.newNames
            skipped += run.skipped
            for found in run.found {
                if found.subjects.contains(where: { examination.ignores(rule.id, on: $0) })
                    || options.ignored.contains(found.finding)
                {
                    ignoredCount += 1
                } else if rule.isAboutSize, !options.includesSmallTables, found.rows < DoctorOptions.smallTable {
                    smallTableCount += 1
                } else {
                    findings.append(found.finding)
                }
            }
        }
        return DoctorReport(
            findings: findings, skipped: skipped, ignoredCount: ignoredCount, smallTableCount: smallTableCount)
    }
}

extension DoctorRule {
    /// All rules, sorted by number.
    public static let all: [DoctorRule] = [
        indexRules, relationshipRules, actionRules, keyRules, nameRules, safetyRules, tenantRules, ownRules,
    ].flatMap { $0 }.sorted { $0.id < $1.id }

    /// The rule of a number, such as `K101`, or of a name; nil if there is none.
    public static func named(_ name: String) -> DoctorRule? {
        all.first { $0.id == name || $0.name == name }
    }
}
