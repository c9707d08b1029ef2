import HarmlessText

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

    /// The findings as JSON, in a stable form that only grows: that of `kindred doctor`, with file and line.
    ///
    /// - Returns: One JSON object and a newline.
    public func json() -> String {
        let findings = findings.map { finding in
            """
            {"rule": \(finding.rule.id.quotedForJSON), "name": \(finding.rule.name.quotedForJSON), \
            "level": \(finding.rule.level.rawValue.quotedForJSON), "file": \(finding.file.quotedForJSON), \
            "line": \(finding.line), "entity": \(finding.entity?.quotedForJSON ?? "null"), \
            "object": \(finding.object?.quotedForJSON ?? "null"), "message": \(finding.message.quotedForJSON), \
            "remedy": \(finding.rule.remedy.quotedForJSON), "repair": [], "ignore": \(finding.ignoreKey.quotedForJSON)}
            """
        }
        let skipped = skipped.map { skip in
            """
            {"file": \(skip.file.quotedForJSON), "line": \(skip.line), "reason": \(skip.reason.quotedForJSON)}
            """
        }
        return "{\"format\": 1, \"findings\": \(Self.list(findings)), \"skipped\": \(Self.list(skipped))}\n"
    }

    /// One element on a line, so that differences are easy to read.
    private static func list(_ elements: [String]) -> String {
        elements.isEmpty ? "[]" : "[\n  \(elements.joined(separator: ",\n  "))]"
    }
}
