import KindredPostgres
import KindredSchema

/// The repairs of a report in an order in which they fit together.
package struct RepairPlan: Sendable {
    /// The findings with repairs, in groups to be tried together.
    ///
    /// Annotations that do not fit come first and one by one, since mending one annotation can make another fit; then
    /// the most important findings, a rule at a time.
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
}
