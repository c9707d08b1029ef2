extension PostgresTSQuery: PostgresScalar {
    private static let word: UInt8 = 1
    private static let operation: UInt8 = 2

    init?(binary reader: inout ByteReader) {
        // Each node takes at least two bytes.
        guard let count = reader.next(Int32.self), count >= 0, Int(count) <= reader.count / 2 else { return nil }
        var nodes: [Node] = []
        for _ in 0..<count {
            guard let node = Node(binary: &reader) else { return nil }
            nodes.append(node)
        }
        self.init(nodes: nodes)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: nodes.count))
        for node in nodes {
            switch node {
            case .word(let text, let weights, let isPrefix):
                bytes += [Self.word, weights, isPrefix ? 1 : 0]
                bytes += text.utf8
                bytes.append(0)
            case .not: bytes += [Self.operation, 1]
            case .and: bytes += [Self.operation, 2]
            case .or: bytes += [Self.operation, 3]
            case .phrase(let distance):
                bytes += [Self.operation, 4]
                bytes.appendBigEndian(distance)
            }
        }
    }
}

extension PostgresTSQuery.Node {
    fileprivate init?(binary reader: inout ByteReader) {
        switch (reader.next(UInt8.self), reader.next(UInt8.self)) {
        case (1, let weights?):
            guard let prefix = reader.next(UInt8.self), prefix <= 1, let text = reader.nextText() else { return nil }
            self = .word(text, weights: weights, isPrefix: prefix == 1)
        case (2, 1): self = .not
        case (2, 2): self = .and
        case (2, 3): self = .or
        case (2, 4):
            guard let distance = reader.next(UInt16.self) else { return nil }
            self = .phrase(distance: distance)
        default: return nil
        }
    }
}

extension PostgresTSQuery: LosslessStringConvertible {
    /// The query of a text such as `'cat' & !'dog':*`, quoted as the server prints it.
    public init?(_ text: String) {
        var parser = TSQueryParser(text)
        guard let nodes = parser.nodes() else { return nil }
        self.init(nodes: nodes)
    }
}

/// Parses a query with a stack of operators: recursion could overflow on deep input.
private struct TSQueryParser {
    private typealias Node = PostgresTSQuery.Node

    private var scanner: QuotedScanner
    /// The nodes in postfix order.
    private var output: [PostgresTSQuery.Node] = []
    /// Operators that wait for their right operand; nil for an open parenthesis.
    private var pending: [PostgresTSQuery.Node?] = []

    init(_ text: String) {
        scanner = QuotedScanner(text, quote: "'")
    }

    mutating func nodes() -> [PostgresTSQuery.Node]? {
        if scanner.isAtEnd { return [] }
        repeat {
            guard operand() else { return nil }
            while scanner.skip(" )") {
                while case .some(.some(let node)) = pending.last {
                    output.append(node)
                    pending.removeLast()
                }
                guard pending.popLast() != nil else { return nil }
            }
        } while binaryOperator()
        guard scanner.isAtEnd else { return nil }
        for node in pending.reversed() {
            guard let node else { return nil }
            output.append(node)
        }
        return output.reversed()
    }

    /// A lexeme, with the operators and parentheses before it.
    private mutating func operand() -> Bool {
        while true {
            if scanner.skip("!") {
                pending.append(.not)
            } else if scanner.skip("( ") {
                pending.append(nil)
            } else {
                break
            }
        }
        guard let text = scanner.quoted() else { return false }
        var (weights, isPrefix): (UInt8, Bool) = (0, false)
        if scanner.skip(":") {
            while let letter = scanner.letter(of: "*ABCD") {
                if letter == UInt8(ascii: "*") {
                    isPrefix = true
                } else {
                    weights |= 8 >> (letter - UInt8(ascii: "A"))
                }
            }
        }
        output.append(.word(text, weights: weights, isPrefix: isPrefix))
        return true
    }

    private mutating func binaryOperator() -> Bool {
        let node: Node
        if scanner.skip(" & ") {
            node = .and
        } else if scanner.skip(" | ") {
            node = .or
        } else if scanner.skip(" <-> ") {
            node = .phrase(distance: 1)
        } else if scanner.skip(" <"), let distance = scanner.number(), scanner.skip("> "),
            let distance = UInt16(exactly: distance)
        {
            node = .phrase(distance: distance)
        } else {
            return false
        }
        while case .some(.some(let last)) = pending.last, last.priority >= node.priority {
            output.append(last)
            pending.removeLast()
        }
        pending.append(node)
        return true
    }
}

extension PostgresTSQuery: Hashable {
    private var bytes: [UInt8] {
        var bytes: [UInt8] = []
        appendBinary(to: &bytes)
        return bytes
    }

    /// Whether the queries are the same, their texts byte by byte.
    public static func == (left: PostgresTSQuery, right: PostgresTSQuery) -> Bool { left.bytes == right.bytes }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
