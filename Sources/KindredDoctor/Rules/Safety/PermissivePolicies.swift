import KindredPostgres
import KindredSchema

/// K414: several policies for one role and command, any of which is enough.
enum PermissivePolicies {
    static let rule = DoctorRule(
        "K414", "multiple-permissive-policies", .note,
        "A table with several permissive policies for one role and command.",
        explanation: """
            One permissive policy that lets a row through is enough, so that all of them are evaluated for rows that none lets \
            through, and who reads one of them does not see what the others allow. Join them with OR into one policy, or make \
            those that shall narrow the others AS RESTRICTIVE. A policy TO PUBLIC is for every role.
            """,
        check: check)

    private static let commands: [(letter: UInt8, name: String)] = [
        (UInt8(ascii: "r"), "SELECT"), (UInt8(ascii: "a"), "INSERT"), (UInt8(ascii: "w"), "UPDATE"),
        (UInt8(ascii: "d"), "DELETE"),
    ]
    private static let everyRole = "public"

    private static func check(_ run: inout RuleRun) {
        let policies = Dictionary(grouping: run.examination.facts.policies.filter(\.isPermissive), by: \.relation)
        for relation in run.examination.sortedRelations where relation.hasRowSecurity && !relation.isPartition {
            guard let own = policies[relation.oid], own.count > 1 else { continue }
            let places = commands.flatMap { command in
                crowded(own.filter { $0.command == command.letter || $0.command == UInt8(ascii: "*") })
                    .map { ("\(command.name) by \($0.role)", $0.policies.joined(separator: ", ")) }
            }
            guard !places.isEmpty else { continue }
            run.report(
                relation, subjects: own.map { .policy($0.oid) },
                "\(relation.qualifiedName) has several permissive policies for one role and command", facts: places,
                weight: Double(relation.rows))
        }
    }

    /// The roles with more than one policy; roles with the same policies as every role are left out.
    private static func crowded(
        _ policies: [DoctorCatalog.Policy]
    ) -> [(role: String, policies: [String])] {
        let common = policies.filter { $0.roles.contains(everyRole) }.map(\.name).sorted()
        let roles = Set(texts: policies.flatMap(\.roles)).subtracting([ServerText(everyRole)]).sorted().texts
        let own = roles.map { role in
            (
                role,
                policies.filter { $0.roles.contains(role) || $0.roles.contains(everyRole) }.map(\.name).sorted()
            )
        }
        return ([(everyRole, common)] + own.filter { $0.1 != common }).filter { $0.1.count > 1 }
    }
}
