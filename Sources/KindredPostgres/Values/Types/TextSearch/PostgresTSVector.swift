/// A `tsvector`: the lexemes of a document, with their positions.
public struct PostgresTSVector: Sendable, Hashable {
    /// The weight of a position; `d` is the least.
    public enum Weight: UInt16, Sendable, Hashable {
        /// The least weight, which is not printed.
        case d
        /// The third weight.
        case c
        /// The second weight.
        case b
        /// The greatest weight.
        case a

        fileprivate var label: String { ["", "C", "B", "A"][Int(rawValue)] }
    }

    /// A position of a lexeme.
    public struct Position: Sendable, Hashable {
        /// The number of the lexeme in the document, 1 to 16,383.
        public let index: Int
        /// Its weight.
        public let weight: Weight

        /// A position; nil beyond 16,383, the server's limit.
        public init?(_ index: Int, weight: Weight = .d) {
            guard (1...16_383).contains(index) else { return nil }
            self.index = index
            self.weight = weight
        }
    }

    /// A word.
    public struct Lexeme: Sendable, Hashable {
        /// The text.
        public let text: String
        /// Its positions in ascending order; empty if they are unknown.
        public let positions: [Position]

        /// A lexeme with its positions.
        public init(_ text: String, positions: [Position] = []) {
            self.text = text
            self.positions = positions
        }

        /// Whether text and positions are the same, byte by byte.
        public static func == (left: Lexeme, right: Lexeme) -> Bool {
            left.text == right.text && left.positions == right.positions
        }

        /// Hashes the parts that `==` compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(text)
            hasher.combine(positions)
        }

        /// The server's limits.
        fileprivate var isValid: Bool {
            (1...2046).contains(text.utf8.count) && !text.utf8.contains(0) && positions.count <= 255
                && zip(positions, positions.dropFirst()).allSatisfy { $0.index < $1.index }
        }
    }

    /// The lexemes, sorted by their bytes.
    public let lexemes: [Lexeme]

    /// A vector of lexemes, in any order.
    ///
    /// Throws `PostgresError` `.invalidParameter` for a lexeme that is duplicate, empty, longer than 2,046 bytes or has a NUL,
    /// and for more than 255 positions or positions that do not ascend.
    public init(_ lexemes: [Lexeme]) throws {
        let sorted = lexemes.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        guard let vector = Self(sorted: sorted) else {
            throw PostgresError(.invalidParameter, "Invalid tsvector lexemes or positions")
        }
        self = vector
    }

    private init?(sorted lexemes: [Lexeme]) {
        guard lexemes.allSatisfy(\.isValid),
            zip(lexemes, lexemes.dropFirst()).allSatisfy({ $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) })
        else { return nil }
        self.lexemes = lexemes
    }
}

extension PostgresTSVector: PostgresScalar {
    init?(binary reader: inout ByteReader) {
        // Each lexeme is followed by a NUL and the number of its positions.
        guard let count = reader.next(Int32.self), count >= 0, Int(count) <= reader.count / 3 else { return nil }
        var lexemes: [Lexeme] = []
        for _ in 0..<count {
            guard let text = reader.nextText(), let count = reader.next(UInt16.self), count <= 255 else { return nil }
            var positions: [Position] = []
            for _ in 0..<count {
                guard let bits = reader.next(UInt16.self), let weight = Weight(rawValue: bits >> 14),
                    let position = Position(Int(bits & 0x3FFF), weight: weight)
                else { return nil }
                positions.append(position)
            }
            lexemes.append(Lexeme(text, positions: positions))
        }
        self.init(sorted: lexemes)
    }

    func appendBinary(to bytes: inout [UInt8]) {
        bytes.appendBigEndian(Int32(clamping: lexemes.count))
        for lexeme in lexemes {
            bytes += lexeme.text.utf8
            bytes.append(0)
            bytes.appendBigEndian(UInt16(clamping: lexeme.positions.count))
            for position in lexeme.positions {
                bytes.appendBigEndian(position.weight.rawValue << 14 | UInt16(clamping: position.index))
            }
        }
    }
}

extension PostgresTSVector: LosslessStringConvertible {
    /// The vector of a text such as `'cat':3A 'fat':2`, quoted as the server prints it.
    public init?(_ text: String) {
        var scanner = QuotedScanner(text, quote: "'")
        var lexemes: [Lexeme] = []
        while !scanner.isAtEnd {
            guard lexemes.isEmpty || scanner.skip(" "), let word = scanner.quoted() else { return nil }
            var positions: [Position] = []
            if scanner.skip(":") {
                repeat {
                    guard let index = scanner.number() else { return nil }
                    let weight: Weight =
                        switch scanner.letter(of: "ABC") {
                        case UInt8(ascii: "A"): .a
                        case UInt8(ascii: "B"): .b
                        case UInt8(ascii: "C"): .c
                        default: .d
                        }
                    guard let position = Position(index, weight: weight) else { return nil }
                    positions.append(position)
                } while scanner.skip(",")
            }
            lexemes.append(Lexeme(word, positions: positions))
        }
        self.init(sorted: lexemes)
    }

    /// The vector as the server prints it: `'cat':3A 'fat':2`.
    public var description: String {
        lexemes.map { lexeme in
            let places = lexeme.positions.map { "\($0.index)\($0.weight.label)" }.joined(separator: ",")
            return QuotedScanner.quoted(lexeme.text, quote: "'", doubled: true) + (places.isEmpty ? "" : ":\(places)")
        }.joined(separator: " ")
    }
}

extension PostgresTSVector: NeutralValue {
    /// No lexemes.
    public static var neutralValue: PostgresTSVector { PostgresTSVector() }

    private init() { lexemes = [] }
}
