import KindredPostgres

/// Distinguishes constraint names made by a server or tool from those chosen by a person.
enum MachineMadeName {
    private static let words = ["fk", "fkey", "ibfk", "foreign", "foreignkey"]

    /// Returns whether a constraint's name looks machine-made.
    ///
    /// It does if it begins with its table's name and `_`; if a word between underscores means foreign key, with or
    /// without digits; if it begins with `FK` before a capital or digit; or if it contains its table's name and ends with
    /// one of its columns, ignoring case: `fpk_visit_person_id`.
    static func matches(_ constraint: String, of table: String, columns: [String]) -> Bool {
        let bytes = constraint.utf8
        if bytes.count > table.utf8.count, bytes.starts(with: table.utf8),
            bytes[bytes.index(bytes.startIndex, offsetBy: table.utf8.count)] == UInt8(ascii: "_")
        {
            return true
        }
        if bytes.starts(with: "FK".utf8), let next = constraint.dropFirst(2).first, next.isUppercase || next.isNumber {
            return true
        }
        let hasWord = bytes.split(separator: UInt8(ascii: "_")).contains { word in
            words.contains { isWord(word, $0) }
        }
        return hasWord
            || columns.contains { IgnoringCase.start(of: $0[...], ending: constraint) != nil }
                && IgnoringCase.contains(table, in: constraint)
    }

    /// Whether a word is the given one, ignoring case and trailing digits.
    private static func isWord(_ word: Substring.UTF8View, _ known: String) -> Bool {
        var rest = word[...]
        for letter in known.utf8 {
            // This bit is the case of ASCII letters, and the known words have only ASCII letters.
            guard let byte = rest.popFirst(), byte | 0x20 == letter else { return false }
        }
        return rest.allSatisfy { (0x30...0x39).contains($0) }
    }
}
