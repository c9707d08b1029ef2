import KindredPostgres

/// Compares names ignoring case, one Unicode scalar at a time.
enum IgnoringCase {
    /// Returns where a suffix begins; nil if the name does not end with it.
    static func start(of text: Substring, ending name: String) -> String.Index? {
        let (letters, wanted) = (name.unicodeScalars, text.unicodeScalars)
        var (place, rest) = (letters.endIndex, wanted.endIndex)
        while rest > wanted.startIndex {
            guard place > letters.startIndex else { return nil }
            place = letters.index(before: place)
            rest = wanted.index(before: rest)
            guard areEqual(letters[place], wanted[rest]) else { return nil }
        }
        return place
    }

    /// Returns where a prefix ends; nil if the name does not begin with it.
    static func end(of text: String, beginning name: Substring) -> String.Index? {
        let letters = name.unicodeScalars
        var place = letters.startIndex
        for wanted in text.unicodeScalars {
            guard place < letters.endIndex, areEqual(letters[place], wanted) else { return nil }
            place = letters.index(after: place)
        }
        return place
    }

    /// Whether a name contains a text.
    static func contains(_ text: String, in name: String) -> Bool {
        name.unicodeScalars.indices.contains { end(of: text, beginning: name[$0...]) != nil }
    }

    private static func areEqual(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
        if left == right { return true }
        if left.isASCII, right.isASCII {
            let letters: ClosedRange<UInt32> = 0x61...0x7A
            return left.value | 0x20 == right.value | 0x20 && letters.contains(left.value | 0x20)
        }
        return left.properties.lowercaseMapping == right.properties.lowercaseMapping
    }
}
