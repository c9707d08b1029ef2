import KindredPostgres

/// The objects whose columns a condition can name at a place in its tree, each by its scope.
struct OpenScopes {
    /// The place of the object that the whole condition is on.
    let own: Int
    /// The scopes that were opened, with the places of their objects; the innermost last.
    private var opened: [(scope: ColumnScope, place: Int)] = []

    init(own: Int = 0) { self.own = own }

    /// The place of the innermost object.
    var innermost: Int { opened.last?.place ?? own }

    /// The place of a scope's object; nil if the scope is not open.
    subscript(scope: ColumnScope) -> Int? {
        scope == .own ? own : opened.last { $0.scope == scope }?.place
    }

    fileprivate mutating func open(_ scope: ColumnScope, at place: Int) { opened.append((scope, place)) }
}

extension ConditionResolver {
    /// The place at which a path begins.
    ///
    /// Throws for a column whose object is not around it.
    func place(of path: ConditionPath) throws -> Int {
        if let place = scopes[path.scope] { return place }
        throw path.notAround
    }

    /// Runs a resolution in which a scope means the row at a place.
    mutating func opening<Result>(
        _ scope: ColumnScope, at place: Int, _ body: (inout ConditionResolver) throws -> Result
    ) rethrows -> Result {
        let outer = scopes
        scopes.open(scope, at: place)
        defer { scopes = outer }
        return try body(&self)
    }

    /// Runs a resolution that names columns of one row alone, whatever scopes are around it.
    mutating func alone<Result>(
        at place: Int, _ body: (inout ConditionResolver) throws -> Result
    ) rethrows -> Result {
        let outer = scopes
        scopes = OpenScopes(own: place)
        defer { scopes = outer }
        return try body(&self)
    }

    /// The parts of a condition, each of which has to be true.
    mutating func conjuncts(of node: ConditionNode) throws -> [ResolvedTerm] {
        switch node {
        case .all(let parts):
            try parts.flatMap { part in
                if case .all(let group) = part, group.isGroup { try conjuncts(of: part) } else { [try condition(part)] }
            }
        case .scoped(let scope, let inner):
            try opening(scope, at: scopes.innermost) { try $0.conjuncts(of: inner) }
        default: [try condition(node)]
        }
    }
}

extension ConditionPath {
    /// The error for a column whose object is not around it: the program's mistake.
    var notAround: KindredError {
        let name = keys.isEmpty ? "An object" : "\"\(keys.joined(separator: "."))\""
        return KindredError(
            .invalidCondition,
            """
            \(name) was kept from a closure that is not around it: a column belongs to the object whose closure gave it, and can be \
            named in that closure and in those within it
            """,
            key: keys.first
        )
    }
}
