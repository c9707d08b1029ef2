import KindredPostgres

/// The knowledge of files before: the CHECK constraints by which columns are never NULL, and whether they are validated.
struct LintHistory: Sendable {
    private struct Check {
        var table: WrittenName
        let constraint: String
        /// The columns that it requires not to be NULL.
        let columns: Set<String>
        var isValid: Bool
    }

    /// By the table's name without its schema.
    private var checks: [String: [Check]] = [:]

    mutating func add(_ constraint: String, columns: Set<String>, isValid: Bool, to table: WrittenName) {
        checks[table.name, default: []].append(
            Check(table: table, constraint: constraint, columns: columns, isValid: isValid))
    }

    mutating func validate(_ constraint: String, of table: WrittenName) {
        for index in places(of: table) where checks[table.name]?[index].constraint == constraint {
            checks[table.name]?[index].isValid = true
        }
    }

    mutating func drop(_ constraint: String, of table: WrittenName) {
        for index in places(of: table).reversed() where checks[table.name]?[index].constraint == constraint {
            checks[table.name]?.remove(at: index)
        }
    }

    mutating func drop(_ table: WrittenName) {
        for index in places(of: table).reversed() { checks[table.name]?.remove(at: index) }
    }

    mutating func rename(_ table: WrittenName, to name: String) {
        for index in places(of: table).reversed() {
            guard var check = checks[table.name]?.remove(at: index) else { continue }
            check.table = check.table.renamed(to: name)
            checks[name, default: []].append(check)
        }
    }

    /// Whether a validated CHECK says that the column is never NULL, so that SET NOT NULL reads no row.
    func isNeverNull(_ column: String, of table: WrittenName) -> Bool {
        places(of: table).contains { index in
            checks[table.name].map { $0[index].isValid && $0[index].columns.contains(column) } ?? false
        }
    }

    /// Whether the table has any validated CHECK, which may have a partition's bounds.
    func hasValidCheck(_ table: WrittenName) -> Bool {
        places(of: table).contains { checks[table.name]?[$0].isValid == true }
    }

    private func places(of table: WrittenName) -> [Int] {
        let known = checks[table.name] ?? []
        return known.indices.filter { known[$0].table.mayBe(table) }
    }

    private static let deepest = 16

    /// The columns that a condition requires not to be NULL: of `a IS NOT NULL AND …` those.
    ///
    /// Conditions that are nested deeper than any that people write say nothing.
    static func requiredColumns(of condition: ArraySlice<SQLToken>, depth: Int = 0) -> Set<String> {
        guard depth < deepest else { return [] }
        let condition = withoutParentheses(condition)
        guard StatementCursor.split(condition, at: { $0.isWord("or") }).count == 1 else { return [] }
        let terms = StatementCursor.split(condition) { $0.isWord("and") }
        if terms.count > 1 { return terms.reduce(into: []) { $0.formUnion(requiredColumns(of: $1, depth: depth + 1)) } }
        var cursor = StatementCursor(condition)
        var name = cursor.parenthesized().map { StatementCursor(withoutParentheses($0)) }
        guard let column = name?.identifier() ?? cursor.identifier(), cursor.take("is", "not", "null"), cursor.isAtEnd
        else { return [] }
        return [column]
    }

    private static func withoutParentheses(_ tokens: ArraySlice<SQLToken>) -> ArraySlice<SQLToken> {
        var tokens = tokens
        for _ in 0..<deepest {
            var cursor = StatementCursor(tokens)
            guard let inner = cursor.parenthesized(), cursor.isAtEnd, inner.count == tokens.count - 2 else { break }
            tokens = inner
        }
        return tokens
    }
}
