/// The texts of values inside composite values and ranges.
enum PartText {
    static func quotedInComposite(_ text: String) -> String { quoted(text, special: "\",()\\") }

    static func quotedInRange(_ text: String) -> String { quoted(text, special: "\",()[]\\") }

    private static func quoted(_ text: String, special: String) -> String {
        let needsQuotes =
            text.isEmpty
            || text.utf8.contains { byte in special.utf8.contains(byte) || " \t\n\r\u{0B}\u{0C}".utf8.contains(byte) }
        guard needsQuotes else { return text }
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            // The server doubles them.
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(byte) }
            quoted.append(byte)
        }
        return String(decoding: quoted + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}

/// Reads the texts of composite values and ranges.
struct PartReader {
    private let bytes: ByteView
    private var position = 0

    init(_ bytes: ByteView) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skip(_ word: StaticString) -> Bool {
        let matches = word.withBytes { bytes[position...].starts(with: $0) }
        if matches { position += word.utf8CodeUnitCount }
        return matches
    }

    /// A part up to one of the given characters, which is not consumed.
    ///
    /// The inner nil is an empty part; the outer nil means that the text ended early.
    mutating func part(until ends: StaticString) -> [UInt8]?? {
        let start = position
        var part: [UInt8] = []
        var isQuoted = false
        while let byte = next {
            if !isQuoted, ends.withBytes({ $0.contains(byte) }) {
                return position == start ? .some(nil) : part
            }
            position += 1
            switch byte {
            case UInt8(ascii: "\\"):
                guard let escaped = next else { return nil }
                part.append(escaped)
                position += 1
            case UInt8(ascii: "\""):
                if isQuoted, skip("\"") { part.append(byte) } else { isQuoted.toggle() }
            default: part.append(byte)
            }
        }
        return nil
    }
}
