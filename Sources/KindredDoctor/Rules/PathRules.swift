import KindredPostgres
import KindredSchema

/// The rules about functions that depend on the search path.
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
        check: checkLoose)

    static let functions = DoctorRule(
        "K415", "function-with-callers-path", .note,
        "A function that takes its caller's search path.",
        explanation: """
            What its names mean depends on who calls it: with another path it may find other tables, or functions and operators \
            that somebody put in front of them. Fix it by ALTER FUNCTION … SET search_path = '' where the body writes out schemas, \
            or to the schemas that it uses. Functions with BEGIN ATOMIC have their names resolved and need no path; neither do those \
            of C. A function that runs with its owner's rights is K402's, one that tables outside of the path call K413's.
            """,
        check: checkFunctions)

    private static func checkFunctions(_ run: inout RuleRun) {
        let others = Set(callsFromOutside(run.examination).map(\.function.oid))
        for function in run.examination.facts.functions
        where !function.hasSearchPath && !function.isSecurityDefiner && !function.isResolved
            && !others.contains(function.oid)
        {
            run.report(
                nil, object: function.signature, subjects: [.function(function.oid)],
                "The function \(function.signature) takes its caller's search path", facts: [("search_path", "not set")]
            )
        }
    }

    /// Functions without a path, with the tables outside of the search path that call them.
    private static func callsFromOutside(
        _ examination: Examination
    ) -> [(function: DoctorCatalog.Function, callers: [DoctorCatalog.Relation])] {
        let calls = Dictionary(grouping: examination.facts.looseCalls, by: \.function.oid)
        return calls.values.sorted { $0[0].function.signature < $1[0].function.signature }
            .compactMap { calls in
                let callers = calls.compactMap { examination.relations[$0.relation] }
                    .filter { !examination.searchPath.contains($0.schema) }
                return callers.isEmpty ? nil : (calls[0].function, callers)
            }
    }

    private static func checkLoose(_ run: inout RuleRun) {
        let path = run.examination.searchPath
        for (function, callers) in callsFromOutside(run.examination) {
            let names = callers.map(\.qualifiedName.description).sorted()
            let rest = names.count > 3 ? " and \(names.count - 3) more" : ""
            run.report(
                nil, object: function.signature, subjects: [.function(function.oid)],
                "The function \(function.signature) takes its caller's search path, which does not lead to tables that call it",
                facts: [("called by", names.prefix(3).joined(separator: ", ") + rest)],
                repair: { path.contains(function.schema) ? [] : [try RepairText.pinPath(of: function)] })
        }
    }
}
