import KindredPostgres
import KindredSchema

extension DoctorRule {
    /// K4: safety.
    static let safetyRules: [DoctorRule] = [
        DoctorRule(
            "K401", "open-schema", .warning,
            "A schema on the search path in which every role may create objects.",
            explanation: """
                A function or operator that another role creates there can be what your statements call. Since PostgreSQL 15 new \
                databases come without that right.
                """,
            check: SafetyChecks.checkSchemas),
        DoctorRule(
            "K402", "security-definer-without-path", .warning,
            "A SECURITY DEFINER function that takes its caller's search path.",
            explanation: """
                It runs with its owner's rights, and the caller decides what its unqualified names mean. The repair fixes the \
                path to the function's own schema, with the temporary one last; widen it where the function needs others.
                """,
            check: SafetyChecks.checkFunctions),
        DoctorRule(
            "K403", "row-security-without-policy", .warning,
            "A table with row security and no policy.",
            explanation: """
                Its owner sees every row, other roles see none. Write the missing policy, or disable row security.
                """,
            check: SafetyChecks.checkUnpoliced),
        DoctorRule(
            "K404", "policy-without-row-security", .warning,
            "A table with policies that are not in force.",
            explanation: "Policies hold only once row security is enabled for their table, which the repair does.",
            check: SafetyChecks.checkUnenforced),
        DoctorRule(
            "K405", "policy-calls-for-each-row", .note,
            "A policy that calls a function anew for each row.",
            explanation: """
                current_setting() and functions such as auth.uid() give the same for every row of a statement, but are called for \
                each. In a subquery, as in (SELECT current_setting('app.tenant')), they are called once. The repair writes the \
                policy so.
                """,
            check: SafetyChecks.checkPolicies),
        DoctorRule(
            "K406", "view-past-row-security", .warning,
            "A view that reads a table with row security by its owner's rights.",
            explanation: """
                The table's policies apply to the view's owner and not to its reader, so that a reader may see every row. \
                From PostgreSQL 15 on, security_invoker makes it the reader.
                """,
            check: SafetyChecks.checkViews),
        DoctorRule(
            "K407", "role-past-row-security", .note,
            "A role that row security does not hold for.",
            explanation: """
                The role that the doctor runs as has BYPASSRLS, and the database has policies. An application's role should not.
                """,
            check: SafetyChecks.checkRole),
        DoctorRule(
            "K408", "late-catalog", .warning,
            "A search path on which schemas come before pg_catalog.",
            explanation: """
                Objects in these schemas take the place of PostgreSQL's own functions and operators. Leave pg_catalog \
                out of search_path: then it comes first.
                """,
            check: SafetyChecks.checkPath),
        DoctorRule(
            "K409", "outdated-server", .warning,
            "A server of a minor version with published vulnerabilities, or of a major one that gets no more fixes.",
            explanation: """
                Minor versions need no dump and no other program: install the latest one and restart. The doctor knows the \
                vulnerabilities published up to November 2025 (CVE-2025-8713 to 8715, CVE-2025-12817 and 12818).
                """,
            check: SafetyChecks.checkServer),
        DoctorRule(
            "K410", "policy-on-empty-setting", .note,
            "A policy that reads a custom setting without nullif.",
            explanation: """
                A setting that a transaction has made, as a context with settings does, is an empty text in the session afterwards, \
                and not NULL: a cast to a number fails, and a row whose column is empty fits. Write \
                nullif(current_setting('app.tenant', true), '').
                """,
            check: SafetyChecks.checkSettings),
        PathRules.looseFunctions, PermissivePolicies.rule, PathRules.functions, PublicExtensions.rule,
    ]
}

/// The checks of K4.
enum SafetyChecks {
    static func checkSchemas(_ run: inout RuleRun) {
        for schema in run.examination.openSchemas {
            run.report(
                nil, object: schema,
                "Every role may create objects in the schema \(schema), which is on the search path",
                facts: [("search path", run.examination.searchPath.joined(separator: ", "))],
                repair: { ["REVOKE CREATE ON SCHEMA \(try RepairText.name(schema)) FROM PUBLIC"] })
        }
    }

    static func checkFunctions(_ run: inout RuleRun) {
        for function in run.examination.facts.functions
        where function.isSecurityDefiner && !function.hasSearchPath {
            let signature = function.signature
            run.report(
                nil, object: signature, subjects: [.function(function.oid)],
                "The function \(signature) runs with its owner's rights and its caller's search path",
                facts: [("search_path", "not set")],
                repair: { [try RepairText.pinPath(of: function)] })
        }
    }

    static func checkUnpoliced(_ run: inout RuleRun) {
        let policed = Set(run.examination.facts.policies.map(\.relation))
        for relation in run.examination.sortedRelations
        where relation.hasRowSecurity && !relation.isPartition && !policed.contains(relation.oid) {
            run.report(
                relation,
                "The table \(relation.qualifiedName) has row security and no policy, so that only its owner sees rows",
                facts: [("policies", "none")])
        }
    }

    static func checkUnenforced(_ run: inout RuleRun) {
        let policies = Dictionary(grouping: run.examination.facts.policies, by: \.relation)
        for relation in run.examination.sortedRelations where !relation.hasRowSecurity {
            guard let own = policies[relation.oid] else { continue }
            run.report(
                relation, subjects: own.map { .policy($0.oid) },
                "The policies of \(relation.qualifiedName) are not in force, as its row security is not enabled",
                facts: [("policies", own.map(\.name).sorted().joined(separator: ", "))],
                repair: { [try RepairText.alter(relation, "ENABLE ROW LEVEL SECURITY")] })
        }
    }

    static func checkPolicies(_ run: inout RuleRun) {
        for policy in run.examination.facts.policies.sorted(by: { $0.name < $1.name }) {
            guard let relation = run.examination.relations[policy.relation] else { continue }
            let using = policy.using.map(PolicyText.init)
            let check = policy.check.map(PolicyText.init)
            let calls = (using?.calls ?? []) + (check?.calls ?? [])
            guard !calls.isEmpty else { continue }
            run.report(
                relation, object: policy.name, subjects: [.policy(policy.oid)],
                "The policy \(policy.name) of \(relation.qualifiedName) calls \(calls.joined(separator: ", ")) for each row",
                facts: [("calls", "\(calls.count)")], weight: Double(relation.rows),
                repair: {
                    var text = "ALTER POLICY \(try RepairText.name(policy.name)) ON \(try RepairText.name(relation))"
                    if let using { text += " USING (\(using.wrapped))" }
                    if let check { text += " WITH CHECK (\(check.wrapped))" }
                    return [text]
                })
        }
    }

    static func checkSettings(_ run: inout RuleRun) {
        for policy in run.examination.facts.policies.sorted(by: { $0.name < $1.name }) {
            guard let relation = run.examination.relations[policy.relation] else { continue }
            let names = [policy.using, policy.check].compactMap { $0 }.flatMap { PolicySettings($0).bare }
            guard !names.isEmpty else { continue }
            run.report(
                relation, object: policy.name, subjects: [.policy(policy.oid)],
                "The policy \(policy.name) of \(relation.qualifiedName) reads a setting without nullif",
                facts: [("settings", Set(texts: names).sorted().texts.joined(separator: ", "))])
        }
    }

    static func checkViews(_ run: inout RuleRun) {
        let examination = run.examination
        let tables = Dictionary(grouping: examination.facts.viewsOfSecuredTables, by: \.view)
        for relation in examination.sortedRelations
        where relation.kind == UInt8(ascii: "v") && !relation.isSecurityInvoker {
            guard let secured = tables[relation.oid] else { continue }
            let names = secured.compactMap { examination.relations[$0.table]?.qualifiedName.description }
                .sorted()
            run.report(
                relation, "The view \(relation.qualifiedName) reads tables with row security by its owner's rights",
                facts: [("tables", names.joined(separator: ", "))],
                repair: {
                    guard examination.facts.settings.serverVersion >= 150_000 else { return [] }
                    return ["ALTER VIEW \(try RepairText.name(relation)) SET (security_invoker = true)"]
                })
        }
    }

    static func checkRole(_ run: inout RuleRun) {
        let examination = run.examination
        guard examination.bypassesRowSecurity, !examination.facts.policies.isEmpty else { return }
        run.report(
            nil, object: examination.role, "Row security does not hold for the role \(examination.role)",
            facts: [("policies", "\(examination.facts.policies.count)")],
            repair: { ["ALTER ROLE \(try RepairText.name(examination.role)) NOBYPASSRLS"] })
    }

    static func checkPath(_ run: inout RuleRun) {
        let path = run.examination.searchPath
        guard let place = path.firstIndex(of: "pg_catalog"), place > 0 else { return }
        run.report(
            nil, object: "search_path", "Schemas come before pg_catalog on the search path",
            facts: [("search_path", path.joined(separator: ", "))])
    }
}

extension SafetyChecks {
    /// The first minor version of each major version without vulnerabilities that were published by November 2025.
    private static let safeVersions = [14: 20, 15: 15, 16: 11, 17: 7, 18: 1]

    static func checkServer(_ run: inout RuleRun) {
        let version = run.examination.facts.settings.serverVersion
        let (major, minor) = (version / 10_000, version % 10_000)
        let facts = [("server", "\(major).\(minor)")]
        if major < 14 {
            run.report(nil, object: "server", "PostgreSQL \(major) gets no more fixes", facts: facts)
        } else if let safe = safeVersions[major], minor < safe {
            run.report(
                nil, object: "server", "PostgreSQL \(major).\(minor) has published vulnerabilities",
                facts: facts + [("without them from", "\(major).\(safe)")])
        }
    }
}
