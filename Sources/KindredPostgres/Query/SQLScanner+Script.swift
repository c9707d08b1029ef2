extension SQLScanner {
    /// One statement of a script.
    package struct ScriptStatement: Sendable, Hashable {
        /// The text, without the semicolon behind it and the comments before it.
        package let text: String
        /// The line at which it begins, counted from 1.
        package let line: Int
    }

    /// Splits a script at the semicolons that end its statements, as psql does: not in quotes, comments and parentheses, and
    /// not in the body of a function from BEGIN ATOMIC to its END.
    package static func statements(in text: String) -> [ScriptStatement] {
        return text.withBytes { bytes in
            var splitter = ScriptSplitter(bytes: bytes)
            return splitter.statements()
        }
    }
}

private struct ScriptSplitter {
    let bytes: ByteView
    private var scanner = SQLScanner()
    private var result: [SQLScanner.ScriptStatement] = []
    private var line = 1
    /// Where the statement begins, once something of it was seen.
    private var start: (position: Int, line: Int)?
    private var parentheses = 0
    private var word: [UInt8] = []
    private var words: [[UInt8]] = []
    /// How many BEGIN and CASE are open in the body of a function.
    private var depth = 0

    init(bytes: ByteView) {
        self.bytes = bytes
    }

    mutating func statements() -> [SQLScanner.ScriptStatement] {
        var (position, hasNumbered) = (0, false)
        while position < bytes.count {
            let (byte, wasPlain) = (bytes[position], scanner.state == .plain)
            let end = min(position + scanner.step(bytes[position...], &hasNumbered), bytes.count)
            if wasPlain, !scanner.isInComment { take(byte, at: position) } else if wasPlain { endWord() }
            line += bytes[position..<end].reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
            position = end
        }
        endWord()
        endStatement(at: bytes.count)
        return result
    }

    /// Takes a byte outside of quotes and comments.
    private mutating func take(_ byte: UInt8, at position: Int) {
        if scanner.state == .plain, SQLScanner.isPartOfName(byte) { word.append(byte) } else { endWord() }
        switch byte {
        case UInt8(ascii: ";") where parentheses == 0 && depth == 0: return endStatement(at: position)
        case UInt8(ascii: "("): parentheses += 1
        case UInt8(ascii: ")"): parentheses = max(parentheses - 1, 0)
        default: break
        }
        if start == nil, byte > 0x20 { start = (position, line) }
    }

    private mutating func endWord() {
        guard !word.isEmpty else { return }
        let new = word.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & ~0x20 : $0 }
        word = []
        defer { if words.count < 4 { words.append(new) } }
        guard words.first?.elementsEqual("CREATE".utf8) == true,
            words.contains(where: { $0.elementsEqual("FUNCTION".utf8) || $0.elementsEqual("PROCEDURE".utf8) })
        else { return }
        if new.elementsEqual("BEGIN".utf8) || depth > 0 && new.elementsEqual("CASE".utf8) {
            depth += 1
        } else if depth > 0, new.elementsEqual("END".utf8) {
            depth -= 1
        }
    }

    private mutating func endStatement(at end: Int) {
        if let start {
            var last = end
            while last > start.position, bytes[last - 1] <= 0x20 { last -= 1 }
            result.append(
                SQLScanner.ScriptStatement(
                    text: String(decoding: bytes[start.position..<last], as: UTF8.self), line: start.line))
        }
        (start, parentheses, words, depth) = (nil, 0, [], 0)
    }
}
