/// Reads and writes quoted texts, in which a quote is doubled or escaped by a backslash.
struct QuotedScanner {
    private var rest: Substring.UTF8View
    private let quote: UInt8

    init(_ text: String, quote: Unicode.Scalar) {
        rest = text.utf8[...]
        self.quote = UInt8(ascii: quote)
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// A number of at most five digits.
    mutating func number() -> Int? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...5).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// One of the given letters.
    mutating func letter(of letters: String) -> UInt8? {
        guard let first = rest.first, letters.utf8.contains(first) else { return nil }
        rest.removeFirst()
        return first
    }

    /// A text in quotes.
    mutating func quoted() -> String? {
        guard rest.first == quote else { return nil }
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped)
            } else if byte == quote {
                guard rest.first == quote else { return String(validating: bytes, as: UTF8.self) }
                rest.removeFirst()
                bytes.append(byte)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    /// The quoted text; a quote in it is doubled, or escaped by a backslash.
    static func quoted(_ text: String, quote: Unicode.Scalar, doubled: Bool) -> String {
        let quote = UInt8(ascii: quote)
        var bytes = [quote]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\\") {
                bytes.append(byte)
            } else if byte == quote {
                bytes.append(doubled ? quote : UInt8(ascii: "\\"))
            }
            bytes.append(byte)
        }
        return String(decoding: bytes + [quote], as: UTF8.self)
    }
}
