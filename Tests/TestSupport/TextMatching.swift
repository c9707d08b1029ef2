// The meaning of conditions over texts, byte by byte as in a database whose texts are collated by bytes.
extension String {
    /// Whether the bytes of another text stand within this one.
    package func containsBytes(of part: String) -> Bool {
        let (whole, part) = (Array(utf8), Array(part.utf8))
        guard whole.count >= part.count else { return false }
        return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
    }

    package func startsWithBytes(of part: String) -> Bool { utf8.starts(with: part.utf8) }

    package func endsWithBytes(of part: String) -> Bool { utf8.reversed().starts(with: part.utf8.reversed()) }

    /// Whether the whole text is like a pattern: `*` for any characters, `?` for one, `\` before a character that
    /// stands for itself.
    package func isLike(_ pattern: String) -> Bool {
        Self.matches(Array(unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
    }

    private static func matches(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "*": return matches(text, rest) || !text.isEmpty && matches(text.dropFirst(), pattern)
        case "?": return !text.isEmpty && matches(text.dropFirst(), rest)
        case "\\" where rest.first.map { "*?\\".unicodeScalars.contains($0) } == true:
            return text.first == rest.first && matches(text.dropFirst(), rest.dropFirst())
        default: return text.first == first && matches(text.dropFirst(), rest)
        }
    }

    package func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
