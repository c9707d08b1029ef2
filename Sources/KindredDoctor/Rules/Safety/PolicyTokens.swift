import KindredPostgres

/// The tokens of a policy's expression, as `pg_get_expr` writes it.
struct PolicyTokens {
    /// A name with the schema before it, and the place behind it.
    struct Name {
        /// With dots between its parts, and in lower case except for parts in quotes.
        let text: String
        let end: Int
    }

    let tokens: [SQLToken]

    init(_ text: String) {
        tokens = SQLScanner.tokens(of: text)
    }

    func isSign(_ sign: String, at place: Int) -> Bool { tokens.indices.contains(place) && tokens[place].isSign(sign) }
    func isWord(_ word: String, at place: Int) -> Bool { tokens.indices.contains(place) && tokens[place].isWord(word) }

    /// The name that begins at a place; nil if none does.
    func name(at place: Int) -> Name? {
        guard isNamePart(at: place) else { return nil }
        var (text, end) = (tokens[place].text, place + 1)
        while isSign(".", at: end), isNamePart(at: end + 1) {
            text += "." + tokens[end + 1].text
            end += 2
        }
        return Name(text: text, end: end)
    }

    private func isNamePart(at place: Int) -> Bool {
        tokens.indices.contains(place) && (tokens[place].kind == .word || tokens[place].kind == .name)
    }

    func isSubquery(at place: Int) -> Bool { isSign("(", at: place) && isWord("select", at: place + 1) }

    /// The place of the parenthesis that closes the parenthesis at a place; the last token's place if none does.
    func closing(_ place: Int) -> Int {
        var depth = 0
        for index in place..<tokens.count {
            if tokens[index].isSign("(") { depth += 1 }
            if tokens[index].isSign(")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return max(tokens.count - 1, place)
    }
}
