/// Tracks quotes and comments through a statement's pieces as the server's scanner does, to know where a parameter may
/// be.
package struct SQLScanner {
    enum State: Equatable {
        case plain
        /// Between single quotes; `hasEscapes` if a backslash escapes.
        case quoted(hasEscapes: Bool)
        case identifier
        case lineComment
        /// Block comments nest.
        case blockComment(depth: Int)
        /// Between two `$tag$`; the tag with its dollars.
        case dollarQuoted([UInt8])
    }

    private(set) var state = State.plain
    /// The latest two characters outside of quotes and comments.
    private var latest: (before: UInt8, at: UInt8) = (0, 0)

    /// The reason why a parameter is not allowed here; nil if it is.
    var reasonAgainstParameter: String? {
        switch state {
        case .plain: nil
        case .quoted, .dollarQuoted: "A value is inside quotes; it is bound, not spliced in: remove the quotes"
        case .identifier: "A value is inside a quoted name; interpolate names with \\(identifier:)"
        case .lineComment, .blockComment: "A value is inside a comment"
        }
    }

    /// A statement without comments and quoted texts, which may be values; quoted names stay.
    package static func withoutTexts(_ text: String) -> String {
        var scanner = SQLScanner()
        var kept: [UInt8] = []
        var hasNumbered = false
        text.withBytes { bytes in
            var position = 0
            while position < bytes.count {
                let wasKept = scanner.isInStatement
                let end = min(position + scanner.step(bytes[position...], &hasNumbered), bytes.count)
                // One character replaces a text or comment, so that its neighbours stay separate.
                if wasKept { kept += scanner.isInStatement ? Array(bytes[position..<end]) : [UInt8(ascii: " ")] }
                position = end
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// Whether a second statement follows a semicolon.
    package static func holdsSeveral(_ text: String) -> Bool {
        var scanner = SQLScanner()
        var (hasNumbered, hasEnded) = (false, false)
        return text.withBytes { bytes in
            var position = 0
            while position < bytes.count {
                let (byte, wasPlain) = (bytes[position], scanner.state == .plain)
                position += scanner.step(bytes[position...], &hasNumbered)
                guard wasPlain else { continue }
                if byte == UInt8(ascii: ";") {
                    hasEnded = true
                } else if hasEnded, byte > 0x20, !scanner.isInComment {
                    return true
                }
            }
            return false
        }
    }

    var isInComment: Bool {
        switch state {
        case .lineComment, .blockComment: true
        case .plain, .quoted, .identifier, .dollarQuoted: false
        }
    }

    var isInStatement: Bool { state == .plain || state == .identifier }

    /// Scans the next piece of text; returns whether it has a numbered parameter such as `$1`.
    mutating func scan(_ text: String) -> Bool {
        return text.withBytes { bytes in
            var hasNumbered = false
            var position = 0
            while position < bytes.count {
                position += step(bytes[position...], &hasNumbered)
            }
            return hasNumbered
        }
    }

    /// Consumes at least one character; returns the count.
    mutating func step(_ rest: Slice<ByteView>, _ hasNumbered: inout Bool) -> Int {
        guard let byte = rest.first else { return 1 }
        switch state {
        case .plain: return plainStep(rest, &hasNumbered)
        case .quoted(let hasEscapes):
            if byte == UInt8(ascii: "\\"), hasEscapes { return 2 }
            if byte == UInt8(ascii: "'") {
                if let count = Self.continuation(of: rest) { return count }
                state = .plain
            }
        case .identifier:
            if byte == UInt8(ascii: "\"") { state = .plain }
        case .lineComment:
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { state = .plain }
        case .blockComment(let depth):
            if rest.starts(with: "*/".utf8) {
                state = depth == 1 ? .plain : .blockComment(depth: depth - 1)
                return 2
            }
            if rest.starts(with: "/*".utf8) {
                state = .blockComment(depth: depth + 1)
                return 2
            }
        case .dollarQuoted(let tag):
            if rest.starts(with: tag) {
                state = .plain
                return tag.count
            }
        }
        return 1
    }

    private mutating func plainStep(_ rest: Slice<ByteView>, _ hasNumbered: inout Bool) -> Int {
        guard let byte = rest.first else { return 1 }
        let previous = latest
        latest = (previous.at, byte)
        switch byte {
        case UInt8(ascii: "'"):
            let isEscape = previous.at | 0x20 == UInt8(ascii: "e") && !Self.isPartOfName(previous.before)
            state = .quoted(hasEscapes: isEscape)
        case UInt8(ascii: "\""): state = .identifier
        case UInt8(ascii: "-") where rest.starts(with: "--".utf8):
            state = .lineComment
            return 2
        case UInt8(ascii: "/") where rest.starts(with: "/*".utf8):
            state = .blockComment(depth: 1)
            return 2
        case UInt8(ascii: "$") where !Self.isPartOfName(previous.at):
            let tag = rest.dropFirst().prefix { Self.isPartOfName($0) && $0 != UInt8(ascii: "$") }
            if let first = tag.first, Self.isDigit(first) {
                hasNumbered = true
            } else if rest.dropFirst(1 + tag.count).first == UInt8(ascii: "$") {
                state = .dollarQuoted([UInt8(ascii: "$")] + tag + [UInt8(ascii: "$")])
                return 2 + tag.count
            }
        default: break
        }
        return 1
    }

    /// The number of characters from a single quote to the quote after which the same text goes on: the quote is
    /// doubled, or only white space with a line's end stands between the two quotes; nil where the text ends.
    private static func continuation(of rest: Slice<ByteView>) -> Int? {
        let behind = rest.dropFirst()
        if behind.first == UInt8(ascii: "'") { return 2 }
        let blanks = behind.prefix { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard behind.dropFirst(blanks.count).first == UInt8(ascii: "'"),
            blanks.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        else { return nil }
        return blanks.count + 2
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isPartOfName(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}
