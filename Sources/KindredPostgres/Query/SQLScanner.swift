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
                let end = min(position + scanner.step(bytes, at: position, &hasNumbered), bytes.count)
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
                position += scanner.step(bytes, at: position, &hasNumbered)
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
                position += step(bytes, at: position, &hasNumbered)
            }
            return hasNumbered
        }
    }

    /// Consumes at least one character; returns the count.
    mutating func step(_ bytes: ByteView, at position: Int, _ hasNumbered: inout Bool) -> Int {
        guard let byte = bytes.byte(at: position) else { return 1 }
        switch state {
        case .plain: return plainStep(bytes, at: position, &hasNumbered)
        case .quoted(let hasEscapes):
            if byte == UInt8(ascii: "\\"), hasEscapes { return 2 }
            if byte == UInt8(ascii: "'") {
                if let count = Self.continuation(of: bytes, at: position) { return count }
                state = .plain
            }
        case .identifier:
            if byte == UInt8(ascii: "\"") { state = .plain }
        case .lineComment:
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { state = .plain }
        case .blockComment(let depth):
            if byte == UInt8(ascii: "*"), bytes.byte(at: position + 1) == UInt8(ascii: "/") {
                state = depth == 1 ? .plain : .blockComment(depth: depth - 1)
                return 2
            }
            if byte == UInt8(ascii: "/"), bytes.byte(at: position + 1) == UInt8(ascii: "*") {
                state = .blockComment(depth: depth + 1)
                return 2
            }
        case .dollarQuoted(let tag):
            if byte == UInt8(ascii: "$"), bytes.holds(tag, at: position) {
                state = .plain
                return tag.count
            }
        }
        return 1
    }

    private mutating func plainStep(_ bytes: ByteView, at position: Int, _ hasNumbered: inout Bool) -> Int {
        let (byte, previous) = (bytes[position], latest)
        latest = (previous.at, byte)
        switch byte {
        case UInt8(ascii: "'"):
            let isEscape = previous.at | 0x20 == UInt8(ascii: "e") && !Self.isPartOfName(previous.before)
            state = .quoted(hasEscapes: isEscape)
        case UInt8(ascii: "\""): state = .identifier
        case UInt8(ascii: "-") where bytes.byte(at: position + 1) == UInt8(ascii: "-"):
            state = .lineComment
            return 2
        case UInt8(ascii: "/") where bytes.byte(at: position + 1) == UInt8(ascii: "*"):
            state = .blockComment(depth: 1)
            return 2
        case UInt8(ascii: "$") where !Self.isPartOfName(previous.at):
            var end = position + 1
            while let part = bytes.byte(at: end), Self.isPartOfName(part), part != UInt8(ascii: "$") { end += 1 }
            if end > position + 1, Self.isDigit(bytes[position + 1]) {
                hasNumbered = true
            } else if bytes.byte(at: end) == UInt8(ascii: "$") {
                state = .dollarQuoted(bytes.part(position..<(end + 1)).array)
                return end + 1 - position
            }
        default: break
        }
        return 1
    }

    /// The number of characters from a single quote to the quote after which the same text goes on: the quote is
    /// doubled, or only white space with a line's end stands between the two quotes; nil where the text ends.
    private static func continuation(of bytes: ByteView, at position: Int) -> Int? {
        var (end, hasLineEnd) = (position + 1, false)
        if bytes.byte(at: end) == UInt8(ascii: "'") { return 2 }
        while let blank = bytes.byte(at: end), blank == 0x20 || blank >= 0x09 && blank <= 0x0D {
            if blank == UInt8(ascii: "\n") || blank == UInt8(ascii: "\r") { hasLineEnd = true }
            end += 1
        }
        return hasLineEnd && bytes.byte(at: end) == UInt8(ascii: "'") ? end + 1 - position : nil
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    static func isPartOfName(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") || isDigit(byte)
            || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
    }
}

// The scanner asks for each byte of each statement: without slices and algorithms, which cost twenty times more where
// they are not optimized.
extension ByteView {
    /// A byte; nil behind the end.
    fileprivate func byte(at position: Int) -> UInt8? { position < count ? self[position] : nil }

    /// Whether the bytes at a position are the given ones.
    fileprivate func holds(_ other: [UInt8], at position: Int) -> Bool {
        guard count - position >= other.count else { return false }
        return other.withBytes { part(position..<(position + other.count)).isEqual(to: $0) }
    }
}
