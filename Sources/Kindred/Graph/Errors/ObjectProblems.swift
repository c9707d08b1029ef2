import HarmlessText
package import KindredPostgres

/// The problems and conflicts of objects, which an error lists.
struct ObjectProblems: KindredErrorDetails {
    let problems: [KindredError.Problem]
    let conflicts: [KindredError.Conflict]

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

    var category: ErrorCategory {
        // No other values could make the program's mistake good.
        if problems.contains(where: { $0.code.category == .mistake }) { return .mistake }
        // Other transactions caused all of it.
        if problems.allSatisfy({ $0.code == .staleObject || $0.code == .objectDeleted }) { return .conflict }
        return .invalid
    }
}

extension KindredError {
    /// All problems that prevent the objects from being saved, by object and key; empty for other errors.
    public var problems: [KindredError.Problem] { (details as? ObjectProblems)?.problems ?? [] }

    /// The objects that other transactions have changed since they were read; empty for other errors.
    public var conflicts: [KindredError.Conflict] { (details as? ObjectProblems)?.conflicts ?? [] }

    package init(
        _ code: Code,
        _ message: String,
        entity: String? = nil,
        key: String? = nil,
        constraint: String? = nil,
        underlying: PostgresError? = nil,
        problems: [KindredError.Problem],
        conflicts: [KindredError.Conflict] = []
    ) {
        self.init(
            code, message, entity: entity, key: key, constraint: constraint, underlying: underlying,
            details: ObjectProblems(problems: problems, conflicts: conflicts))
    }

    /// The error as one about a relationship or an attribute of another entity.
    func about(_ key: String, of entity: EntityRuntime) -> KindredError {
        let name = entity.name.description
        let problems = problems.map {
            KindredError.Problem(
                $0.code, $0.message, object: $0.object, entity: name, key: key, constraint: $0.constraint,
                error: $0.error)
        }
        return KindredError(
            code, message, entity: name, key: key, constraint: constraint, underlying: underlying, problems: problems,
            conflicts: conflicts)
    }
}
