import KindredPostgres

/// A foreign-key column's name without the referenced key's suffix.
///
/// `sender_id` and `billtoaddressid` have the bases `sender` and `billtoaddress`. The referenced table's name with `id` or
/// `_id` appended has that name as its base, whatever the referenced column: `employeeid` to `employee` gives `employee`.
enum ColumnBase {
    /// Returns the base, or nil for a column that is only the suffix.
    ///
    /// - Parameters:
    ///   - column: The foreign key's column.
    ///   - referencedColumn: The column that it refers to.
    ///   - referencedTable: The name of the table that it refers to.
    static func base(of column: String, referencing referencedColumn: String, of referencedTable: String) -> String? {
        if let end = IgnoringCase.end(of: referencedTable, beginning: column[...]) {
            let rest = column[end...]
            let isSuffix = ["id", "_id"].contains { IgnoringCase.end(of: $0, beginning: rest) == rest.endIndex }
            if isSuffix { return String(column[..<end]) }
        }
        let suffix = suffix(of: referencedColumn, table: referencedTable)
        var end = IgnoringCase.start(of: suffix, ending: column)
        if let found = end, found > column.startIndex {
            let before = column.unicodeScalars.index(before: found)
            if column.unicodeScalars[before] == "_" { end = before }
        }
        if end == nil { end = IgnoringCase.start(of: "_id", ending: column) }
        if end == nil, column.hasSuffix("Id") || column.hasSuffix("ID") {
            end = column.unicodeScalars.index(column.endIndex, offsetBy: -2)
        }
        guard let end else { return column }
        return end == column.startIndex ? nil : String(column[..<end])
    }

    /// Returns the part of a referenced column's name that is the suffix of referring columns.
    private static func suffix(of column: String, table: String) -> Substring {
        if let end = IgnoringCase.end(of: table, beginning: column[...]) {
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
}

extension Substring {
    fileprivate func dropFirstScalar() -> Substring {
        guard let first = unicodeScalars.indices.first else { return self }
        return self[unicodeScalars.index(after: first)...]
    }
}
