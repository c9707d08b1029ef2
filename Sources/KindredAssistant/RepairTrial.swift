import KindredDDL
public import KindredDoctor
import KindredPostgres
import KindredSchemaDifferences

/// The repairs of a report, tried together on a copy of the database's schema.
///
/// ```swift
/// let report = try await Doctor.findings(of: client)
/// let trial = try await RepairTrial.run(report, of: client)
/// for repair in trial.repairs where repair.outcome == .works { print(repair.statements) }
/// ```
public struct RepairTrial: Sendable {
    /// The end of a repair's trial.
    public enum Outcome: Sendable, Hashable {
        /// The statements ran on the copy, behind the statements of earlier repairs, and the model can be read
        /// afterwards.
        case works
        /// A repair before it has made the finding go.
        case needless
        /// A statement failed, the model could not be read afterwards, or the finding was still there: why.
        case leftOut(String)
        /// It was not tried: why.
        case untried(String)
    }

    /// A finding with the outcome of its repair.
    public struct Repair: Sendable {
        /// The finding, as it was before any repair.
        public let finding: DoctorFinding
        /// The statements, written for the schema as it is when all repairs before it have run; if the repair is left
        /// out, the statements that were tried and failed; none if it is needless.
        public let statements: [String]
        /// The end of its trial.
        public let outcome: Outcome
    }

    /// Things that the copy lacks, each with the reason, so that repairs about them were not tried: things that only a
    /// superuser may make, extensions that are neither trusted nor asked for, and everything that depends on these.
    public private(set) var leftOut: [String] = []

    /// All findings with a repair, in the order in which the statements are to be run.
    public let repairs: [Repair]

    /// Tries the repairs of a report.
    ///
    /// The database is read in one round trip of read-only statements, and not used otherwise. On a private server its
    /// schema is made again, without rows, by a role that owns the copy and may do nothing else; there, rule by rule,
    /// the repairs of a rule run in a transaction, after which the doctor looks at the copy and reads its model. If a
    /// repair fails, leaves an annotation that does not fit, or leaves its finding, each half of the repairs is tried
    /// by itself, so that only the faulty repairs are left out. The next repair is written for the copy as it is then,
    /// with the names, keys, comments and indexes that the repairs before it made. CREATE INDEX and REINDEX are tried
    /// without CONCURRENTLY. A statement that rows refuse can fail on the database all the same.
    ///
    /// Costs the copy as many statements as the schema has parts, and 20 for each rule with findings, more where repairs are left
    /// out.
    ///
    /// - Parameters:
    ///   - report: The findings. Findings without statements are not among the repairs.
    ///   - client: A client of the database that they were found in.
    ///   - options: The options with which the report was made.
    ///   - extensions: Extensions that are made on the private server though it does not trust them.
    /// - Returns: The repairs; all of them are ``Outcome/untried(_:)`` where there are no programs of a server, or where the
    ///   schema cannot be copied.
    /// - Throws: `PostgresError` if the database cannot be read, or if the embedded server fails otherwise than by refusing a
    ///   statement.
    public static func run(
        _ report: DoctorReport, of client: PostgresClient, options: DoctorOptions = DoctorOptions(),
        extensions: [String] = []
    ) async throws -> RepairTrial {
        let plan = RepairPlan(report)
        if plan.groups.isEmpty { return RepairTrial(repairs: []) }
        let snapshot = try await SnapshotReader.read(from: client)
        do {
            return try await ScratchServer.withServer(extensions: extensions) { server in
                let leftOut = try await LeftOut.find(in: [snapshot], on: server)
                let rest = leftOut.rest(of: snapshot)
                return try await server.withDatabase(leftOut.firstExtensions(of: rest)) { copy in
                    try await SchemaCopy(rest, of: "the database").make(on: copy, of: server)
                    var attempt = try await RepairAttempt(on: copy, for: report, options)
                    for group in plan.groups { try await attempt.run(group[...]) }
                    return RepairTrial(leftOut: leftOut.lines, repairs: attempt.repairs)
                }
            }
        } catch let error as SchemaDifferencesError where error.code == .noServer {
            return untried(plan, "there is no embedded server: \(error.message)")
        } catch let failure as SchemaCopy.Failure {
            return untried(plan, "the schema cannot be made on the embedded server: \(failure.reason)")
        }
    }

    private static func untried(_ plan: RepairPlan, _ reason: String) -> RepairTrial {
        var seen: Set<ServerText> = []
        return RepairTrial(
            repairs: plan.groups.joined().map { finding in
                Repair(
                    finding: finding, statements: finding.repair.filter { seen.insert($0) },
                    outcome: .untried(reason))
            })
    }
}
