import HarmlessText
import KindredPostgres

/// A look at migration files before they run: which of their statements block, break or fail.
///
/// ```swift
/// let lint = try Migrations(folder: "Migrations").lint()
/// #expect(!lint.reaches(.warning), "\(lint.findings)")
/// ```
///
/// It reads the files' texts alone. A table that a file makes itself is empty, and no program uses it yet, so that nothing is
/// said of it in that file. Statements that are not known are passed over; those inside of DO blocks and functions are not looked at, and are
/// among ``skipped``.
public struct MigrationLint: Sendable, Hashable {
    /// A part of a file that was not looked at.
    public struct Skip: Sendable, Hashable {
        /// The file's name.
        public let file: String
        /// The line, counted from 1.
        public let line: Int
        /// The reason, in one sentence.
        public let reason: String
    }

    /// The findings, by file and line.
    public internal(set) var findings: [MigrationFinding] = []
    /// The parts of files that were not looked at, by file and line.
    public internal(set) var skipped: [Skip] = []
    /// The names of the files that were looked at, in their order.
    public internal(set) var files: [String] = []
    /// The count of findings that are left out.
    public internal(set) var ignoredCount = 0

    /// Whether a finding matters as much as `level` or more.
    public func reaches(_ level: MigrationRule.Level) -> Bool {
        findings.contains { $0.rule.level >= level }
    }

    /// The findings as JSON, in a stable form that only grows: the form of `kindred doctor`, with file and line.
    ///
    /// - Returns: One JSON object and a newline.
    public func json() -> String {
        let findings = findings.map { finding in
            JSONText.object([
                ("rule", .string(finding.rule.id)), ("name", .string(finding.rule.name)),
                ("level", .string(finding.rule.level.rawValue)), ("file", .string(finding.file)),
                ("line", .integer(finding.line)), ("entity", .optional(finding.entity)),
                ("object", .optional(finding.object)), ("message", .string(finding.message)),
                ("remedy", .string(finding.rule.remedy)), ("repair", .list([])), ("ignore", .string(finding.ignoreKey)),
            ])
        }
        let skipped = skipped.map { skip in
            JSONText.object([
                ("file", .string(skip.file)), ("line", .integer(skip.line)), ("reason", .string(skip.reason)),
            ])
        }
        return
            "{\"format\": 1, \"findings\": \(JSONText.lines(of: findings)), \"skipped\": \(JSONText.lines(of: skipped))}\n"
    }
}
