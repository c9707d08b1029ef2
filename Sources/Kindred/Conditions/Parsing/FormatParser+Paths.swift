import KindredPostgres

extension FormatParser {
    /// A key path, `SELF`, or a path that ends in `@count`: of a variable's object, or else of the request's.
    mutating func path() throws -> ConditionExpression {
        var keys: [String] = []
        let variable = try takeVariable()
        let scope = variable ?? .own
        if variable != nil, !accept(.dot) { return .path(ConditionPath(scope, [])) }
        var isFirst = true
        repeat {
            let position = current.position
            switch current.kind {
            case .word(let word):
                let isSelf = isFirst && current.keyword == .itself
                advance()
                if isSelf { break }
                if isAt(.leftParenthesis) {
                    throw KindredError.invalidFormat("functions such as \(word)() are not supported", at: position)
                }
                keys.append(word)
            case .key(let key), .string(let key):
                guard !key.isEmpty else { throw expected("a key") }
                advance()
                keys.append(key)
            case .placeholder(.keyPath):
                let argument = try takeArgument()
                guard let named = argument.keys else { throw unfitArgument("a key path", at: position) }
                keys += named
            case .collectionOperator("through") where isFirst:
                advance()
                guard isAt(.dot) else { throw expected("a key of the helper after \(PairLink.key)") }
                keys.append(PairLink.key)
            case .collectionOperator(let name):
                guard name == "count", !keys.isEmpty else { throw expected("a key, or @count at the end of a path") }
                advance()
                guard !isAt(.dot) else { throw expected("the end of the path after @count") }
                return .count(ConditionPath(scope, keys))
            default: throw expected("a key")
            }
            isFirst = false
        } while accept(.dot)
        if keys.last == "@count" { return .count(ConditionPath(scope, keys.dropLast())) }
        return .path(ConditionPath(scope, keys))
    }
}

extension ConditionArgument {
    /// The keys in the argument of `%K`: a path with dots, or a list of keys that may contain dots.
    fileprivate var keys: [String]? {
        switch self {
        case .value(.string(let path)):
            let keys = path.keys
            return keys.contains("") || keys == ["@count"] ? nil : keys
        case .list(let values):
            var keys: [String] = []
            for value in values {
                guard case .string(let key) = value, !key.isEmpty else { return nil }
                keys.append(key)
            }
            return keys.isEmpty ? nil : keys
        default: return nil
        }
    }
}

extension FormatParser {
    /// `SUBQUERY(pets, $pet, $pet.name == 'Rex' AND $pet.age > 3).@count`: the number of members that fulfil a
    /// condition.
    mutating func subquery() throws -> ConditionExpression {
        try enter()
        defer { leave() }
        advance()
        try require(.leftParenthesis)
        let start = current.position
        guard case .path(let path) = try path(), !path.keys.isEmpty else {
            throw KindredError.invalidFormat("SUBQUERY takes a path to many objects first", at: start)
        }
        try require(.comma)
        guard case .variable(let name) = current.kind else { throw expected("a variable such as $pet") }
        advance()
        try require(.comma)
        let scope = ColumnScope()
        variables.append((name, scope))
        let phrase = try phrase(.or)
        let node = try condition(phrase)
        variables.removeLast()
        try require(.rightParenthesis)
        try require(.dot)
        guard case .collectionOperator("count") = current.kind else { throw expected("@count after SUBQUERY(…)") }
        advance()
        return .countWhere(MemberCondition(on: path, as: scope, node))
    }

    /// Consumes the variable at the beginning of a path, and returns the scope of its object; nil without a variable.
    ///
    /// Throws for a variable of no SUBQUERY around the path.
    private mutating func takeVariable() throws -> ColumnScope? {
        guard case .variable(let name) = current.kind else { return nil }
        if let variable = variables.last(where: { $0.name == name }) {
            advance()
            return variable.scope
        }
        let message =
            variables.isEmpty
            ? "variables such as $\(name) belong in SUBQUERY; give arguments for %@"
            : "the variables here are \(variables.map { "$\($0.name)" }.joined(separator: ", ")), and no $\(name)"
        throw KindredError.invalidFormat(message, at: current.position)
    }
}
