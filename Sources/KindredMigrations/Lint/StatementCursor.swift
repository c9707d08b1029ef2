import KindredPostgres

/// Goes through the tokens of a statement, or of a part of a statement, from the left.
struct StatementCursor {
    private(set) var tokens: ArraySlice<SQLToken>
    /// The line of the latest token, counted from the statement's.
    private(set) var line = 0

    init(_ tokens: ArraySlice<SQLToken>) {
        self.tokens = tokens
        line = tokens.first?.line ?? 0
    }

    var isAtEnd: Bool { tokens.isEmpty }

    func isAt(_ words: String...) -> Bool { isAt(words) }

    private func isAt(_ words: [String]) -> Bool {
        tokens.count >= words.count && zip(tokens, words).allSatisfy { $0.isWord($1) }
    }

    /// Whether the words stand in the rest, outside of parentheses.
    func contains(_ words: String...) -> Bool {
        var rest = self
        while !rest.isAtEnd {
            if rest.isAt(words) { return true }
            if rest.parenthesized() == nil { rest.skip() }
        }
        return false
    }

    /// Takes words if all of them are next.
    mutating func take(_ words: String...) -> Bool {
        guard isAt(words) else { return false }
        advance(words.count)
        return true
    }

    /// Takes one of several words, if it is next.
    mutating func take(oneOf words: Set<ServerText>) -> String? {
        guard let first = tokens.first, first.kind == .word, words.contains(first.text) else { return nil }
        advance(1)
        return first.text
    }

    mutating func take(sign: String) -> Bool {
        guard tokens.first?.isSign(sign) == true else { return false }
        advance(1)
        return true
    }

    mutating func skip() { advance(1) }

    private mutating func advance(_ count: Int) {
        line = tokens.prefix(count).last?.line ?? line
        tokens = tokens.dropFirst(count)
    }

    /// A name without a schema.
    mutating func identifier() -> String? {
        guard let first = tokens.first, first.kind == .word || first.kind == .name else { return nil }
        advance(1)
        return first.text
    }

    /// A name with or without a schema, behind ONLY or not; of more than two parts the last two.
    mutating func name() -> WrittenName? {
        _ = take("only")
        guard var last = identifier() else { return nil }
        var schema: String?
        while tokens.first?.isSign(".") == true {
            advance(1)
            guard let next = identifier() else { break }
            (schema, last) = (last, next)
        }
        _ = take(sign: "*")
        return WrittenName(schema: schema, name: last)
    }

    /// Names between commas.
    mutating func names() -> [WrittenName] {
        var names: [WrittenName] = []
        repeat {
            guard let name = name() else { break }
            names.append(name)
        } while take(sign: ",")
        return names
    }

    /// The tokens between parentheses, if one opens here.
    mutating func parenthesized() -> ArraySlice<SQLToken>? {
        guard take(sign: "(") else { return nil }
        let start = tokens
        var depth = 1
        while let first = tokens.first {
            if first.isSign("(") { depth += 1 }
            if first.isSign(")") { depth -= 1 }
            advance(1)
            if depth == 0 { return start[..<(tokens.startIndex - 1)] }
        }
        return start
    }

    /// The rest, at the commas outside of parentheses.
    var parts: [StatementCursor] {
        Self.split(tokens) { $0.isSign(",") }.map { StatementCursor($0) }
    }

    /// Tokens, split where a token outside of parentheses separates them.
    static func split(
        _ tokens: ArraySlice<SQLToken>, at isSeparator: (SQLToken) -> Bool
    ) -> [ArraySlice<SQLToken>] {
        var (parts, depth, start): ([ArraySlice<SQLToken>], Int, Int) = ([], 0, tokens.startIndex)
        for place in tokens.indices {
            if tokens[place].isSign("(") || tokens[place].isSign("[") { depth += 1 }
            if tokens[place].isSign(")") || tokens[place].isSign("]") { depth -= 1 }
            if depth == 0, isSeparator(tokens[place]) {
                parts.append(tokens[start..<place])
                start = place + 1
            }
        }
        return parts + [tokens[start...]]
    }
}
