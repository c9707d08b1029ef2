import KindredSchema

/// The rule about functions that rest on the search path where it does not lead.
enum PathRules {
    static let looseFunctions = DoctorRule(
        "K413", "function-without-path", .note,
        "A function without a search path of its own that tables outside of the search path call.",
        explanation: """
            Triggers, defaults, checks, indexes, rules, policies and views call it, and its names mean what the session's path \
            leads to, which is not the schema of these tables. For tenants with schemas of their own Kindred sets the path in front \
            of the statements concerned; elsewhere nobody does. The repair fixes the path to the function's own schema, if that is \
            outside of the search path, too; a function that all tenants share needs the path.
            """,
        check: check)

    private static func check(_ visit: inout RuleVisit) {
        let (relations, path) = (visit.examination.relations, visit.examination.searchPath)
        let calls = Dictionary(grouping: visit.examination.facts.looseCalls, by: \.function.oid)
        for calls in calls.values.sorted(by: { $0[0].function.signature.precedesInBytes($1[0].function.signature) }) {
            let callers = calls.compactMap { relations[$0.relation] }.filter { !path.contains($0.schema) }
            guard !callers.isEmpty else { continue }
            let function = calls[0].function
            let names = callers.map(\.qualifiedName.description).sortedByBytes()
            let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
            visit.report(
                nil, object: function.signature, subjects: [.function(function.oid)],
                "The function \(function.signature) takes its caller's search path, which does not lead to tables that call it",
                facts: [("called by", names.prefix(3).joined(separator: ", ") + rest)],
                repair: { path.contains(function.schema) ? [] : [try RepairText.pinPath(of: function)] })
        }
    }
}
