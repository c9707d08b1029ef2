import KindredSchema

/// The repairs of a report in an order in which they fit together.
package struct RepairPlan: Sendable {
    /// The findings with repairs, in groups to be tried together.
    ///
    /// Annotations that do not fit come first and one by one, as one that is mended can make another fit; then what matters most, a
    /// rule at a time.
    package let groups: [[DoctorFinding]]

    /// Orders the repairs of a report.
    package init(_ report: DoctorReport) {
        var (single, groups): ([[DoctorFinding]], [[DoctorFinding]]) = ([], [])
        for finding in report.ranked where !finding.repair.isEmpty {
            if finding.rule == Self.annotations {
                single.append([finding])
            } else if groups.last?.last?.rule == finding.rule {
                groups[groups.count - 1].append(finding)
            } else {
                groups.append([finding])
            }
        }
        self.groups = single + groups
    }

    private static let annotations = "K501"

    /// The same findings without comments on constraints that another one's repair drops, since those fail behind it.
    static func withoutLostComments(_ findings: [DoctorFinding]) -> [DoctorFinding] {
        let comments = findings.flatMap(\.repair).compactMap(comment(onDropped:))
        if comments.isEmpty { return findings }
        return findings.map { finding in
            var finding = finding
            finding.repair.removeAll { statement in comments.contains { statement.hasPrefix($0) } }
            return finding
        }
    }

    /// The beginning of a comment on the constraint that a statement drops for good; nil for other statements.
    private static func comment(onDropped statement: String) -> String? {
        let (start, drop) = ("ALTER TABLE ", " DROP CONSTRAINT ")
        guard statement.hasPrefix(start), !statement.contains(", ADD CONSTRAINT ") else { return nil }
        let parts = statement.dropFirst(start.count).split(separator: drop)
        return parts.count == 2 ? "COMMENT ON CONSTRAINT \(parts[1]) ON \(parts[0]) IS " : nil
    }
}
