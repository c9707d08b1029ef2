import HarmlessText
package import KindredPostgres

/// The problems and conflicts of objects, which an error lists.
struct ObjectProblems: KindredErrorDetails {
    let problems: [ValidationProblem]
    let conflicts: [VersionConflict]

    var facts: [String] {
        var facts: [String] = []
        for problem in problems where problems.count > 1 || problem.error != nil {
            facts.append(problem.message + (problem.error.map { " (\(String(reflecting: $0).harmlessLines()))" } ?? ""))
        }
        for conflict in conflicts {
            let version = conflict.version.map(\.description) ?? "NULL"
            let stored = conflict.databaseVersion.map(\.description) ?? "NULL"
            facts.append("\(conflict.object) was read as version \(version) and is \(stored)".harmless)
        }
        return facts
    }

    var areConflicts: Bool { problems.allSatisfy { $0.code == .staleObject || $0.code == .objectDeleted } }
}

extension KindredError {
    /// All problems that prevent the objects from being saved, by object and key; empty for other errors.
    public var problems: [ValidationProblem] { (details as? ObjectProblems)?.problems ?? [] }

    /// The objects that other transactions have changed since they were read; empty for other errors.
    public var conflicts: [VersionConflict] { (details as? ObjectProblems)?.conflicts ?? [] }

    package init(
        _ code: Code,
        _ message: String,
        entity: String? = nil,
        key: String? = nil,
        constraint: String? = nil,
        underlying: PostgresError? = nil,
        problems: [ValidationProblem],
        conflicts: [VersionConflict] = []
    ) {
        self.init(
            code, message, entity: entity, key: key, constraint: constraint, underlying: underlying,
            details: ObjectProblems(problems: problems, conflicts: conflicts))
    }
}
