/// A word, name, text or sign of a statement.
package struct SQLToken: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A keyword, a name without quotes, or a number.
        case word
        /// A name in double quotes.
        case name
        /// A text in single quotes or between dollars.
        case text
        /// One other character.
        case sign
    }

    package let kind: Kind
    /// A word in lower case, as the server folds it; a name or text without its quotes, and with doubled quotes once;
    /// else the character.
    package let text: String
    /// The number of lines in the statement before the line at which it begins.
    package let line: Int
    /// Its place in the statement's bytes.
    package let range: Range<Int>

    /// Whether it is this keyword.
    package func isWord(_ word: String) -> Bool { kind == .word && text == word }

    /// Whether it is a number without a point or a sign.
    package var isNumber: Bool { kind == .word && text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Whether it is this character.
    package func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }
}

extension SQLScanner {
    /// Takes a statement apart into tokens; comments and blanks are no tokens.
    ///
    /// - Parameters:
    ///   - statement: One statement.
    ///   - limit: The count of tokens after which the rest is not read.
    package static func tokens(of statement: String, limit: Int = .max) -> [SQLToken] {
        statement.withBytes { bytes in
            var tokenizer = Tokenizer(bytes: bytes)
            return tokenizer.tokens(limit: limit)
        }
    }
}

private struct Tokenizer {
    let bytes: ByteView
    private var scanner = SQLScanner()
    private var result: [SQLToken] = []
    private var line = 0
    /// The place of the present word, and of the present quotes.
    private var word: Int?
    private var quote = (position: 0, line: 0)

    init(bytes: ByteView) {
        self.bytes = bytes
    }

    mutating func tokens(limit: Int) -> [SQLToken] {
        var (position, hasNumbered) = (0, false)
        while position < bytes.count, result.count < limit {
            let (byte, before) = (bytes[position], scanner.state)
            let end = min(position + scanner.step(bytes, at: position, &hasNumbered), bytes.count)
            if before == .plain {
                scan(byte, position..<end)
            } else if scanner.state == .plain {
                close(before, end)
            }
            for place in position..<end where bytes[place] == UInt8(ascii: "\n") { line += 1 }
            position = end
        }
        if result.count < limit { endWord(at: bytes.count) }
        return result
    }

    private mutating func scan(_ byte: UInt8, _ range: Range<Int>) {
        guard scanner.state == .plain else {
            endWord(at: range.lowerBound)
            if scanner.state != .identifier, !scanner.isInComment { dropPrefix(before: range.lowerBound) }
            return quote = (range.lowerBound, line)
        }
        if SQLScanner.isPartOfName(byte) {
            if word == nil { word = range.lowerBound }
        } else {
            endWord(at: range.lowerBound)
            if byte > 0x20 { add(.sign, range, text: range, line: line) }
        }
    }

    private mutating func endWord(at end: Int) {
        guard let start = word else { return }
        word = nil
        add(.word, start..<end, text: start..<end, line: line)
    }

    /// Leaves the letter of `E'…'` and its like out.
    private mutating func dropPrefix(before position: Int) {
        guard let last = result.last, last.kind == .word, last.range.upperBound == position,
            ["e", "b", "x", "n"].contains(last.text)
        else { return }
        result.removeLast()
    }

    private mutating func close(_ state: SQLScanner.State, _ end: Int) {
        switch state {
        case .identifier: add(.name, between: "\"", (quote.position + 1)..<(end - 1))
        case .quoted(let hasEscapes): add(.text, between: "'", (quote.position + 1)..<(end - 1), hasEscapes: hasEscapes)
        case .dollarQuoted(let tag):
            add(.text, quote.position..<end, text: (quote.position + tag.count)..<(end - tag.count), line: quote.line)
        case .plain, .lineComment, .blockComment: break
        }
    }

    /// Adds the text between quotes, to the earlier token if that ends with a quote: a doubled quote looks like an end
    /// and a beginning.
    private mutating func add(
        _ kind: SQLToken.Kind, between sign: String, _ inner: Range<Int>, hasEscapes: Bool = false
    ) {
        var text = String(decoding: bytes[inner], as: UTF8.self)
        if kind == .text { text = Self.unescaped(text, hasEscapes: hasEscapes) }
        var (start, first) = (inner.lowerBound - 1, quote.line)
        if let last = result.last, last.kind == kind, last.range.upperBound == start {
            result.removeLast()
            (start, first) = (last.range.lowerBound, last.line)
            text = last.text + sign + text
        }
        result.append(SQLToken(kind: kind, text: text, line: first, range: start..<(inner.upperBound + 1)))
    }

    /// Doubled quotes once, and backslashes and quotes without the backslash before them; other escapes stay as they are written.
    private static func unescaped(_ text: String, hasEscapes: Bool) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let first = rest.popFirst() {
            let isEscape =
                first == "'"
                ? rest.first == "'"
                : hasEscapes && first == "\\" && (rest.first.map { "\\'".unicodeScalars.contains($0) } ?? false)
            result.append(isEscape ? rest.removeFirst() : first)
        }
        return String(result)
    }

    private mutating func add(_ kind: SQLToken.Kind, _ range: Range<Int>, text: Range<Int>, line: Int) {
        var content = String(decoding: bytes[text], as: UTF8.self)
        if kind == .word { content = content.foldedName }
        result.append(SQLToken(kind: kind, text: content, line: line, range: range))
    }
}
