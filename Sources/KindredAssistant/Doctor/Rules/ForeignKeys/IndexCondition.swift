/// The condition of a partial index, as `pg_get_expr` writes it, as far as it follows from columns not being NULL.
///
/// Reads what PostgreSQL itself can prove: IS NOT NULL and NOT ... IS NULL of columns, ROW(...) IS NOT NULL, `true`, and
/// AND, OR and parentheses around them. Everything else counts as what need not be true.
struct IndexCondition {
    enum Token: Equatable {
        case word(String)
        /// An identifier in quotes.
        case quoted(String)
        case symbol(String)
    }

    private indirect enum Node {
        case isNotNull([(column: String, isCast: Bool)])
        case isNull([(column: String, isCast: Bool)])
        case always
        case unknown
        case and([Node])
        case or([Node])
    }

    private let root: Node

    init(_ text: String) {
        var parser = Parser(tokens: Self.tokens(of: text)[...])
        let node = parser.disjunction(0)
        root = parser.tokens.isEmpty ? node : .unknown
    }

    /// Whether the condition holds for every row in which none of the columns is NULL.
    ///
    /// - Parameters:
    ///   - columns: The columns, each with whether a cast to text leaves its values as they are.
    ///   - absent: Columns that are NULL in it.
    func follows(from columns: [String: Bool], absent: Set<String> = []) -> Bool {
        Self.holds(root, columns, absent)
    }

    /// Whether no row in which a column is NULL passes the condition as a check.
    func requires(_ column: String) -> Bool { Self.requires(root, column) }

    private static func requires(_ node: Node, _ column: String) -> Bool {
        switch node {
        case .isNotNull(let names): names.contains { $0.column == column }
        case .and(let nodes): nodes.contains { requires($0, column) }
        case .or(let nodes): nodes.allSatisfy { requires($0, column) }
        case .isNull, .always, .unknown: false
        }
    }

    private static func holds(_ node: Node, _ columns: [String: Bool], _ absent: Set<String>) -> Bool {
        switch node {
        case .always: true
        case .isNotNull(let names):
            names.allSatisfy { name in columns[name.column].map { $0 || !name.isCast } ?? false }
        case .isNull(let names): names.allSatisfy { absent.contains($0.column) }
        case .and(let nodes): nodes.allSatisfy { holds($0, columns, absent) }
        case .or(let nodes): nodes.contains { holds($0, columns, absent) }
        case .unknown: false
        }
    }

    private struct Parser {
        var tokens: ArraySlice<Token>

        /// Conditions that are nested deeper say nothing.
        private static let deepest = 64

        mutating func disjunction(_ depth: Int) -> Node {
            guard depth < Self.deepest else { return giveUp() }
            var nodes = [conjunction(depth)]
            while take(.word("OR")) { nodes.append(conjunction(depth)) }
            return nodes.count == 1 ? nodes[0] : .or(nodes)
        }

        private mutating func conjunction(_ depth: Int) -> Node {
            var nodes = [negation(depth)]
            while take(.word("AND")) { nodes.append(negation(depth)) }
            return nodes.count == 1 ? nodes[0] : .and(nodes)
        }

        private mutating func negation(_ depth: Int) -> Node {
            guard take(.word("NOT")) else { return term(depth) }
            guard depth < Self.deepest else { return giveUp() }
            return Self.opposite(of: negation(depth + 1))
        }

        /// What NOT makes of a condition: it goes inwards past AND and OR, as PostgreSQL moves it.
        private static func opposite(of node: Node) -> Node {
            switch node {
            case .isNull(let columns): .isNotNull(columns)
            case .and(let nodes): .or(nodes.map(opposite))
            case .or(let nodes): .and(nodes.map(opposite))
            case .isNotNull, .always, .unknown: .unknown
            }
        }

        private mutating func term(_ depth: Int) -> Node {
            if take(.word("true")) { return endsTerm ? .always : skipTerm() }
            let start = tokens
            if let columns = operand(), let test = test(columns), endsTerm { return test }
            tokens = start
            if take(.symbol("(")) {
                let node = disjunction(depth + 1)
                if take(.symbol(")")), endsTerm { return node }
                tokens = start
            }
            return skipTerm()
        }

        /// A column, `(column)::text`, or ROW(column, column).
        private mutating func operand() -> [(column: String, isCast: Bool)]? {
            if take(.word("ROW")) {
                guard take(.symbol("(")) else { return nil }
                var columns: [(String, Bool)] = []
                repeat {
                    guard let column = column() else { return nil }
                    columns.append(column)
                } while take(.symbol(","))
                return take(.symbol(")")) ? columns : nil
            }
            return column().map { [$0] }
        }

        private mutating func column() -> (column: String, isCast: Bool)? {
            if take(.symbol("(")) {
                guard let name = name(), take(.symbol(")")), take(.symbol("::")), take(.word("text")) else {
                    return nil
                }
                return (name, true)
            }
            return name().map { ($0, false) }
        }

        private mutating func name() -> String? {
            switch tokens.first {
            case .quoted(let name):
                tokens.removeFirst()
                return name
            case .word(let name) where !["NOT", "NULL", "true", "false"].contains(name):
                tokens.removeFirst()
                return name
            default: return nil
            }
        }

        private mutating func test(_ columns: [(column: String, isCast: Bool)]) -> Node? {
            guard take(.word("IS")) else { return nil }
            if take(.word("NOT")) { return take(.word("NULL")) ? .isNotNull(columns) : nil }
            // NOT (ROW(a, b) IS NULL) holds where one of them is NULL.
            return take(.word("NULL")) && columns.count == 1 ? .isNull(columns) : nil
        }

        /// Whether a term ends here, so that nothing was read for more than it is.
        private var endsTerm: Bool {
            switch tokens.first {
            case nil, .symbol(")"), .word("AND"), .word("OR"): true
            default: false
            }
        }

        /// Leaves out what is not understood, up to the AND, OR or parenthesis that ends it.
        private mutating func skipTerm() -> Node {
            var depth = 0
            while let next = tokens.first {
                if depth == 0, endsTerm { break }
                if next == .symbol("(") { depth += 1 }
                if next == .symbol(")") { depth -= 1 }
                tokens.removeFirst()
            }
            return .unknown
        }

        private mutating func giveUp() -> Node {
            tokens = []
            return .unknown
        }

        private mutating func take(_ token: Token) -> Bool {
            guard tokens.first == token else { return false }
            tokens.removeFirst()
            return true
        }
    }

    static func tokens(of text: String) -> [Token] {
        var tokens: [Token] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            switch first {
            case " ", "\n", "\t": rest.removeFirst()
            case "\"": tokens.append(.quoted(quoted(&rest, "\"")))
            case "'": tokens.append(.symbol("'" + quoted(&rest, "'")))
            case ":" where rest.dropFirst().first == ":":
                rest.removeFirst(2)
                tokens.append(.symbol("::"))
            case _ where isPartOfWord(first):
                let word = rest.prefix(while: isPartOfWord)
                tokens.append(.word(String(word)))
                rest = rest[word.endIndex...]
            default:
                tokens.append(.symbol(String(first)))
                rest.removeFirst()
            }
        }
        return tokens
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar == "_" || scalar == "$" || ("0"..."9").contains(scalar)
    }

    private static func quoted(_ rest: inout Substring.UnicodeScalarView, _ quote: Unicode.Scalar) -> String {
        rest.removeFirst()
        var text = String.UnicodeScalarView()
        while let next = rest.popFirst() {
            guard next == quote else {
                text.append(next)
                continue
            }
            guard rest.first == quote else { break }
            rest.removeFirst()
            text.append(quote)
        }
        return String(text)
    }
}
