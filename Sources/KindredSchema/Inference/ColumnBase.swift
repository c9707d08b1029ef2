/// What remains of a foreign-key column's name without the referenced key's suffix.
///
/// `sender_id` and `billtoaddressid` have the bases `sender` and `billtoaddress`.
enum ColumnBase {
    /// Returns the base, or nil for a column that is nothing but the suffix.
    ///
    /// - Parameters:
    ///   - column: The foreign key's column.
    ///   - referencedColumn: The column that it refers to.
    ///   - referencedTable: The name of the table that it refers to.
    static func base(of column: String, referencing referencedColumn: String, of referencedTable: String) -> String? {
        let suffix = suffix(of: referencedColumn, table: referencedTable)
        var end = start(of: suffix, endingIgnoringCase: column)
        if let found = end, found > column.startIndex {
            let before = column.unicodeScalars.index(before: found)
            if column.unicodeScalars[before] == "_" { end = before }
        }
        if end == nil { end = start(of: "_id", endingIgnoringCase: column) }
        if end == nil, column.hasSuffix("Id") || column.hasSuffix("ID") {
            end = column.unicodeScalars.index(column.endIndex, offsetBy: -2)
        }
        guard let end else { return column }
        return end == column.startIndex ? nil : String(column[..<end])
    }

    /// Returns the part of a referenced column's name that the columns referring to it end with.
    private static func suffix(of column: String, table: String) -> Substring {
        if let end = end(of: table, beginningIgnoringCase: column) {
            var rest = column[end...]
            while rest.unicodeScalars.first == "_" { rest = rest.dropFirstScalar() }
            if !rest.isEmpty { return rest }
        }
        if let underscore = column.unicodeScalars.lastIndex(of: "_") {
            let word = column[column.unicodeScalars.index(after: underscore)...]
            if !word.isEmpty { return word }
        } else if column.unicodeScalars.count > 2, column.hasSuffix("Id") || column.hasSuffix("ID") {
            return column[column.unicodeScalars.index(column.endIndex, offsetBy: -2)...]
        }
        return column[...]
    }

    /// Returns where a text begins that a name ends with, ignoring case.
    private static func start(of text: Substring, endingIgnoringCase name: String) -> String.Index? {
        let (letters, wanted) = (name.unicodeScalars, text.unicodeScalars)
        var (place, rest) = (letters.endIndex, wanted.endIndex)
        while rest > wanted.startIndex {
            guard place > letters.startIndex else { return nil }
            place = letters.index(before: place)
            rest = wanted.index(before: rest)
            guard equalIgnoringCase(letters[place], wanted[rest]) else { return nil }
        }
        return place
    }

    /// Returns where a text ends that a name begins with, ignoring case.
    private static func end(of text: String, beginningIgnoringCase name: String) -> String.Index? {
        let letters = name.unicodeScalars
        var place = letters.startIndex
        for wanted in text.unicodeScalars {
            guard place < letters.endIndex, equalIgnoringCase(letters[place], wanted) else { return nil }
            place = letters.index(after: place)
        }
        return place
    }

    private static func equalIgnoringCase(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
        if left == right { return true }
        if left.isASCII, right.isASCII {
            let letters: ClosedRange<UInt32> = 0x61...0x7A
            return left.value | 0x20 == right.value | 0x20 && letters.contains(left.value | 0x20)
        }
        return left.properties.lowercaseMapping == right.properties.lowercaseMapping
    }
}

extension Substring {
    fileprivate func dropFirstScalar() -> Substring {
        guard let first = unicodeScalars.indices.first else { return self }
        return self[unicodeScalars.index(after: first)...]
    }
}
