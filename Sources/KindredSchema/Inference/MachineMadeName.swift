/// Tells constraint names that a server or a tool made from those that a person chose.
enum MachineMadeName {
    private static let words: Set<String> = ["fk", "fkey", "ibfk", "foreign", "foreignkey"]

    /// Returns whether a constraint's name looks machine-made.
    ///
    /// It does if it begins with its table's name and `_`, if one of its words between underscores says that it is a
    /// foreign key, digits following or not, or if it begins with `FK` before a capital or digit.
    static func matches(_ constraint: String, of table: String) -> Bool {
        let bytes = constraint.utf8
        if bytes.count > table.utf8.count, bytes.starts(with: table.utf8),
            bytes[bytes.index(bytes.startIndex, offsetBy: table.utf8.count)] == UInt8(ascii: "_")
        {
            return true
        }
        if constraint.hasPrefix("FK"), let next = constraint.dropFirst(2).first, next.isUppercase || next.isNumber {
            return true
        }
        return constraint.split(separator: "_").contains { word in
            var letters = word.lowercased()
            while let last = letters.utf8.last, (0x30...0x39).contains(last) { letters.removeLast() }
            return words.contains(letters)
        }
    }
}
