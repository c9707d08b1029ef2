extension SQLScanner {
    /// One statement of a script.
    package struct ScriptStatement: Sendable, Hashable {
        /// The text, without the semicolon behind it and the comments before it.
        package let text: String
        /// The line at which it begins, counted from 1.
        package let line: Int
        /// A part that is still open at the script's end, so that it may have swallowed later statements; nil if none
        /// is.
        package var unfinished: Unfinished?
        /// The line of a backslash outside of quotes and comments; only psql's own commands begin with a backslash.
        package var backslashLine: Int?
    }

    /// Something that is open at the end of a script.
    package struct Unfinished: Sendable, Hashable {
        /// Its name in messages: `the parenthesis`.
        package let name: String
        /// The line at which it begins.
        package let line: Int
    }

    /// Splits a script at the semicolons that end its statements, as psql does: not in quotes, comments and parentheses, and
    /// not in the body of a function from BEGIN ATOMIC to its END.
    package static func statements(in text: String) -> [ScriptStatement] { split(text).statements }

    /// Splits a text, and returns also the number of bytes that were looked at, which grows with the text.
    package static func split(_ text: String) -> (statements: [ScriptStatement], work: Int) {
        return text.withBytes { bytes in
            var splitter = ScriptSplitter(bytes: bytes)
            return (splitter.statements(), splitter.work)
        }
    }
}

private struct ScriptSplitter {
    let bytes: ByteView
    /// The number of bytes that were looked at, including searches.
    private(set) var work = 0
    private var scanner = SQLScanner()
    private var result: [SQLScanner.ScriptStatement] = []
    private var line = 1
    /// The place where the statement begins, once something of it was seen.
    private var start: (position: Int, line: Int)?
    private var backslashLine: Int?
    /// The lines of the open parentheses.
    private var parentheses: [Int] = []
    /// The lines of BEGIN ATOMIC and CASE that are open in the body of a function.
    private var blocks: [Int] = []
    /// The place where the present quotes or comment begin.
    private var quote = (position: 0, line: 1)
    private var word: [UInt8] = []
    /// The first four words, in capitals.
    private var words: [[UInt8]] = []
    /// The word before, and the character between it and the next one.
    private var previous: [UInt8] = []
    private var separator: UInt8 = 0

    init(bytes: ByteView) {
        self.bytes = bytes
    }

    mutating func statements() -> [SQLScanner.ScriptStatement] {
        // As psql, which leaves out the mark that some editors write before a file.
        var (position, hasNumbered) = (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0, false)
        while position < bytes.count {
            let wasPlain = scanner.state == .plain
            if !wasPlain, let closing = closingByte {
                let end = find(closing, in: position..<bytes.count) ?? bytes.count
                countLines(in: position..<end)
                position = end
                guard position < bytes.count else { break }
            }
            let byte = bytes[position]
            let end = min(position + scanner.step(bytes, at: position, &hasNumbered), bytes.count)
            work += end - position
            if wasPlain, scanner.state != .plain { quote = (position, line) }
            if wasPlain, !scanner.isInComment { scan(byte, at: position) } else if wasPlain { endWord() }
            if end > position + 1 || byte == UInt8(ascii: "\n") { countLines(in: position..<end) }
            position = end
        }
        endWord()
        endStatement(at: bytes.count, unfinished: unfinished)
        return result
    }

    /// The only byte at which the present quotes can end; nil where other bytes have a meaning, too.
    private var closingByte: UInt8? {
        switch scanner.state {
        case .quoted(hasEscapes: false): UInt8(ascii: "'")
        case .identifier: UInt8(ascii: "\"")
        case .dollarQuoted: UInt8(ascii: "$")
        case .plain, .quoted, .lineComment, .blockComment: nil
        }
    }

    /// The first position of a byte in a range: a search of the whole rest, once for each text, would take quadratic
    /// time.
    private mutating func find(_ byte: UInt8, in range: Range<Int>) -> Int? {
        let found = bytes.part(range).firstIndex(of: byte, from: 0).map { range.lowerBound + $0 }
        work += (found ?? range.upperBound) - range.lowerBound
        return found
    }

    private mutating func countLines(in range: Range<Int>) {
        var rest = range
        while let found = find(UInt8(ascii: "\n"), in: rest) {
            line += 1
            rest = (found + 1)..<range.upperBound
        }
    }

    /// Scans a byte outside of quotes and comments.
    private mutating func scan(_ byte: UInt8, at position: Int) {
        if scanner.state == .plain, SQLScanner.isPartOfName(byte) {
            word.append(byte)
        } else {
            // The point of 0.5 or 1. is part of a number; the next word is no part of a qualified name.
            let isNumber = word.first.map(SQLScanner.isDigit) ?? false
            endWord()
            if byte > 0x20, !isNumber || byte != UInt8(ascii: ".") { separator = byte }
        }
        switch byte {
        case UInt8(ascii: ";") where parentheses.isEmpty && blocks.isEmpty:
            return endStatement(at: position, unfinished: nil)
        case UInt8(ascii: "("): parentheses.append(line)
        case UInt8(ascii: ")"): _ = parentheses.popLast()
        case UInt8(ascii: "\\") where backslashLine == nil: backslashLine = line
        default: break
        }
        if start == nil, byte > 0x20 { start = (position, line) }
    }

    private mutating func endWord() {
        guard let first = word.first else { return }
        // A number is no word, and nothing before it belongs to the next word.
        guard !SQLScanner.isDigit(first) else { return (word, previous, separator) = ([], [], 0) }
        let new = word.map { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") ? $0 & ~0x20 : $0 }
        // Behind AS and a dot stands a name, whatever it is.
        let isName = separator == UInt8(ascii: ".") || separator == 0 && previous.isWord("AS")
        let before = separator == 0 ? previous : []
        if words.count < 4 { words.append(new) }
        (word, previous, separator) = ([], new, 0)
        guard parentheses.isEmpty, !isName, isRoutine else { return }
        if before.isWord("BEGIN") && new.isWord("ATOMIC")
            || !blocks.isEmpty && new.isWord("CASE")
        {
            blocks.append(line)
        } else if new.isWord("END") {
            _ = blocks.popLast()
        }
    }

    /// Whether the statement begins with CREATE FUNCTION or CREATE PROCEDURE, or with CREATE OR REPLACE.
    private var isRoutine: Bool {
        guard words.count > 1, words[0].isWord("CREATE") else { return false }
        let kind = words[1].isWord("OR") ? (words.count > 3 ? words[3] : []) : words[1]
        return kind.isWord("FUNCTION") || kind.isWord("PROCEDURE")
    }

    private var unfinished: SQLScanner.Unfinished? {
        let name: String? =
            switch scanner.state {
            case .plain, .lineComment: nil
            case .quoted: "the text in single quotes"
            case .identifier: "the name in double quotes"
            case .blockComment: "the comment"
            case .dollarQuoted(let tag): "the text behind \(String(decoding: tag, as: UTF8.self))"
            }
        if let name { return SQLScanner.Unfinished(name: name, line: quote.line) }
        if let line = parentheses.last { return SQLScanner.Unfinished(name: "the parenthesis", line: line) }
        return blocks.last.map { SQLScanner.Unfinished(name: "BEGIN ATOMIC or CASE", line: $0) }
    }

    private mutating func endStatement(at end: Int, unfinished: SQLScanner.Unfinished?) {
        // The rest may be a comment that does not end.
        if start == nil, unfinished != nil { start = quote }
        if let start {
            var textEnd = end
            while textEnd > start.position, bytes[textEnd - 1] <= 0x20 { textEnd -= 1 }
            result.append(
                SQLScanner.ScriptStatement(
                    text: String(decoding: bytes[start.position..<textEnd], as: UTF8.self), line: start.line,
                    unfinished: unfinished, backslashLine: backslashLine))
        }
        (start, backslashLine, parentheses, words, blocks) = (nil, nil, [], [], [])
        (previous, separator) = ([], 0)
    }
}

extension [UInt8] {
    /// Whether the bytes are a word.
    fileprivate func isWord(_ word: StaticString) -> Bool {
        count == word.utf8CodeUnitCount && withBytes { bytes in word.withBytes { bytes.isEqual(to: $0) } }
    }
}
