extension FormatParser {
    /// `SUBQUERY(pets, $pet, $pet.name == 'Rex' AND $pet.age > 3).@count`: how many members fulfil a condition.
    mutating func subquery() throws -> ConditionExpression {
        try enter()
        defer { leave() }
        advance()
        try require(.leftParenthesis)
        let start = current.position
        guard case .path(let path) = try path(), !path.isEmpty else {
            throw KindredError.invalidFormat("SUBQUERY takes a path to many objects first", at: start)
        }
        try require(.comma)
        guard case .variable(let name) = current.kind else { throw expected("a variable such as $pet") }
        advance()
        try require(.comma)
        variables.append(name)
        let phrase = try phrase(.or)
        let node = try condition(phrase)
        variables.removeLast()
        try require(.rightParenthesis)
        try require(.dot)
        guard case .collectionOperator("count") = current.kind else { throw expected("@count after SUBQUERY(…)") }
        advance()
        return .countWhere(path, node)
    }

    /// Takes the variable that a path within SUBQUERY begins with; false for a path of the object itself.
    ///
    /// Throws where the path belongs to another object than the innermost member, which cannot be said.
    mutating func takeVariable() throws -> Bool {
        guard case .variable(let name) = current.kind else {
            guard let innermost = variables.last else { return false }
            throw KindredError.invalidFormat(
                "within SUBQUERY a path begins with its variable, as in $\(innermost).name", at: current.position)
        }
        guard let innermost = variables.last else {
            throw KindredError.invalidFormat(
                "variables such as $\(name) belong into SUBQUERY; give arguments for %@", at: current.position)
        }
        guard name == innermost else {
            throw KindredError.invalidFormat("only $\(innermost) can be used here", at: current.position)
        }
        advance()
        return true
    }
}
