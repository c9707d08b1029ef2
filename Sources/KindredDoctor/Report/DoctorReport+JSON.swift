import HarmlessText

extension DoctorReport {
    /// The report as JSON, in a stable form: the same findings give the same bytes.
    ///
    /// The format of `kindred doctor --format json`; later versions may add members, and change none.
    ///
    /// - Returns: One JSON object and a newline.
    public func json() -> String {
        let findings = findings.map { finding in
            JSONText.object([
                ("rule", .string(finding.rule)), ("name", .string(finding.name)),
                ("level", .string(finding.level.rawValue)), ("entity", .optional(finding.entity)),
                ("object", .optional(finding.object)), ("message", .string(finding.message)),
                ("repair", .strings(finding.repair)), ("ignore", .string(finding.ignoreKey)),
            ])
        }
        let skipped = skipped.map { JSONText.object([("rule", .string($0.rule)), ("reason", .string($0.reason))]) }
        return
            "{\"format\": 1, \"findings\": \(JSONText.lines(of: findings)), \"skipped\": \(JSONText.lines(of: skipped))}\n"
    }
}
