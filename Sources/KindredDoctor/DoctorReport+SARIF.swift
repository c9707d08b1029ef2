import HarmlessText
import KindredPostgres

extension DoctorReport {
    /// The report in the Static Analysis Results Interchange Format, version 2.1.0, which code hosts and editors read.
    ///
    /// A finding's place is the logical location `schema.table.object`; its facts and repairs are among its properties,
    /// and its ignore key is a fingerprint, by which a finding is recognised in later reports.
    ///
    /// - Parameter version: The version of the program that writes it.
    /// - Returns: One JSON object and a newline.
    public func sarif(version: String = "1") -> String {
        let rules = DoctorRule.all
        let places = Dictionary(rules.enumerated().map { ($1.id, $0) }) { first, _ in first }
        let driver = JSONText.object([
            ("name", "kindred doctor"), ("version", .string(version)),
            ("rules", .list(rules.map(Self.sarif))),
        ])
        let notifications = skipped.map { skip in
            JSONText.object([
                ("level", "warning"), ("message", .object([("text", .string(skip.reason))])),
                ("associatedRule", Self.reference(skip.rule, places)),
            ])
        }
        let invocation = JSONText.object([
            ("executionSuccessful", .bool(true)), ("toolConfigurationNotifications", .list(notifications)),
        ])
        let run = JSONText.object([
            ("tool", .object([("driver", driver)])), ("invocations", .list([invocation])),
            ("results", .list(findings.map { Self.sarif($0, places) })),
        ])
        let log = JSONText.object([
            ("$schema", "https://json.schemastore.org/sarif-2.1.0.json"), ("version", "2.1.0"), ("runs", .list([run])),
        ])
        return log.lines() + "\n"
    }

    private static func sarif(_ rule: DoctorRule) -> JSONText {
        .object([
            ("id", .string(rule.id)), ("name", .string(rule.name)),
            ("shortDescription", .object([("text", .string(rule.summary))])),
            ("fullDescription", .object([("text", .string(rule.explanation))])),
            ("defaultConfiguration", .object([("level", .string(rule.level.rawValue))])),
        ])
    }

    private static func sarif(_ finding: DoctorFinding, _ places: [String: Int]) -> JSONText {
        let name = [finding.entity, finding.object].compactMap { $0 }.joined(separator: ".")
        let kind = finding.entity == nil ? "namespace" : finding.object == nil ? "type" : "member"
        let location = JSONText.object([
            ("logicalLocations", .list([.object([("fullyQualifiedName", .string(name)), ("kind", .string(kind))])]))
        ])
        let facts = finding.facts.map { JSONText.object([("name", .string($0.name)), ("value", .string($0.value))]) }
        return .object([
            ("ruleId", .string(finding.rule)), ("ruleIndex", .integer(places[finding.rule] ?? -1)),
            ("level", .string(finding.level.rawValue)), ("message", .object([("text", .string(finding.message))])),
            ("locations", .list([location])),
            ("partialFingerprints", .object([("kindredIgnoreKey/v1", .string(finding.ignoreKey))])),
            ("properties", .object([("facts", .list(facts)), ("repair", .strings(finding.repair))])),
        ])
    }

    private static func reference(_ rule: String, _ places: [String: Int]) -> JSONText {
        .object([("id", .string(rule)), ("index", .integer(places[rule] ?? -1))])
    }
}
