/// A `tsquery`: a full-text search condition.
///
/// ```swift
/// let query = PostgresTSQuery.and(.word("cat"), .not(.word("dog", isPrefix: true)))    // 'cat' & !'dog':*
/// ```
public struct PostgresTSQuery: Sendable {
    /// A lexeme or an operator.
    enum Node: Sendable, Hashable {
        case word(String, weights: UInt8, isPrefix: Bool)
        case not
        case and
        case or
        case phrase(distance: UInt16)

        var operandCount: Int {
            switch self {
            case .word: 0
            case .not: 1
            case .and, .or, .phrase: 2
            }
        }
    }

    /// The query in the server's order: prefix notation, the right operand first.
    let nodes: [Node]

    /// Nil unless every operator has exactly its operands.
    init?(nodes: [Node]) {
        var needed = nodes.isEmpty ? 0 : 1
        for node in nodes {
            guard needed > 0 else { return nil }
            needed += node.operandCount - 1
            if case .word(let text, let weights, _) = node {
                guard text.utf8.count <= 2046, !text.utf8.contains(0), weights < 16 else { return nil }
            }
            if case .phrase(let distance) = node, distance > 16_384 { return nil }
        }
        guard needed == 0 else { return nil }
        self.nodes = nodes
    }

    private init(unchecked nodes: [Node]) {
        self.nodes = nodes
    }

    /// The query that matches nothing.
    public static let empty = PostgresTSQuery(unchecked: [])

    /// A lexeme, or every lexeme with that prefix, with one of the given weights; an empty set means any.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a lexeme that is longer than 2,046 bytes or has a NUL.
    public static func word(
        _ text: String, weights: Set<PostgresTSVector.Weight> = [], isPrefix: Bool = false
    ) throws -> PostgresTSQuery {
        let bits = weights.reduce(0 as UInt8) { $0 | 1 << UInt8($1.rawValue) }
        guard let query = PostgresTSQuery(nodes: [.word(text, weights: bits, isPrefix: isPrefix)]) else {
            throw PostgresError(.invalidParameter, "Invalid tsquery lexeme")
        }
        return query
    }

    /// Matches documents that both queries match; ignores an empty query.
    public static func and(_ left: PostgresTSQuery, _ right: PostgresTSQuery) -> PostgresTSQuery {
        joined(left, right, by: .and)
    }

    /// Matches documents that either query matches; ignores an empty query.
    public static func or(_ left: PostgresTSQuery, _ right: PostgresTSQuery) -> PostgresTSQuery {
        joined(left, right, by: .or)
    }

    /// Matches documents that the query does not match.
    public static func not(_ query: PostgresTSQuery) -> PostgresTSQuery {
        query.nodes.isEmpty ? query : PostgresTSQuery(unchecked: [.not] + query.nodes)
    }

    /// Matches documents in which the right match follows the left one at a distance of so many lexemes.
    ///
    /// Throws `PostgresError` `.invalidParameter` unless the distance is 0 to 16,384.
    public static func phrase(
        _ left: PostgresTSQuery, _ right: PostgresTSQuery, distance: Int = 1
    ) throws -> PostgresTSQuery {
        guard (0...16_384).contains(distance) else {
            throw PostgresError(.invalidParameter, "The phrase distance is out of range")
        }
        return joined(left, right, by: .phrase(distance: UInt16(distance)))
    }

    private static func joined(_ left: PostgresTSQuery, _ right: PostgresTSQuery, by node: Node) -> PostgresTSQuery {
        if left.nodes.isEmpty || right.nodes.isEmpty { return left.nodes.isEmpty ? right : left }
        return PostgresTSQuery(unchecked: [node] + right.nodes + left.nodes)
    }
}

extension PostgresTSQuery: CustomStringConvertible {
    /// The query as the server prints it: `'cat' & !'dog':*`.
    public var description: String {
        // From the end, so that each operator finds its operands on the stack. No recursion: it could overflow on deep queries.
        var stack: [(text: String, node: Node)] = []
        for node in nodes.reversed() {
            switch node {
            case .word(let text, let weights, let isPrefix):
                let letters = zip(["D", "C", "B", "A"], 0...).reversed().filter { weights & 1 << $1 != 0 }.map(\.0)
                let suffix = (isPrefix ? "*" : "") + letters.joined()
                let word = QuotedScanner.quoted(text, quote: "'", doubled: true)
                stack.append((suffix.isEmpty ? word : "\(word):\(suffix)", node))
            case .not:
                guard let operand = stack.popLast() else { return "" }
                stack.append(("!" + Self.text(operand, in: node, isRight: false), node))
            case .and, .or, .phrase:
                guard let right = stack.popLast(), let left = stack.popLast() else { return "" }
                let (a, b) = (Self.text(left, in: node, isRight: false), Self.text(right, in: node, isRight: true))
                stack.append(("\(a) \(node.sign) \(b)", node))
            }
        }
        return stack.last?.text ?? ""
    }

    /// An operand, in parentheses if it binds less tightly, or is a phrase on the right of another.
    private static func text(_ operand: (text: String, node: Node), in node: Node, isRight: Bool) -> String {
        let isLoose = operand.node.priority < node.priority
        var isPhraseInPhrase = false
        if isRight, case .phrase = node, case .phrase = operand.node { isPhraseInPhrase = true }
        return isLoose || isPhraseInPhrase ? "( \(operand.text) )" : operand.text
    }
}

extension PostgresTSQuery.Node {
    var priority: Int {
        switch self {
        case .or: 1
        case .and: 2
        case .phrase: 3
        case .not: 4
        case .word: 5
        }
    }

    fileprivate var sign: String {
        switch self {
        case .word, .not: ""
        case .and: "&"
        case .or: "|"
        case .phrase(let distance): distance == 1 ? "<->" : "<\(distance)>"
        }
    }
}
