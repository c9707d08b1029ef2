import KindredPostgres

/// Expressions of an index in the place of columns that may be NULL.
enum CoalescedColumns {
    /// The columns of expressions that all are a column with a constant in the place of NULL, as in `COALESCE(parent, 0)`; nil if
    /// one of them is something else.
    static func columns(of expressions: String) -> [String]? {
        var columns: [String] = []
        var rest = SQLScanner.tokens(of: expressions)[...]
        while let first = rest.first, first.isWord("coalesce") {
            rest.removeFirst()
            guard takeSign("(", &rest), let column = rest.popFirst(), column.kind == .word || column.kind == .name,
                takeSign(",", &rest), takeConstant(&rest), takeSign(")", &rest)
            else { return nil }
            columns.append(column.text)
            guard takeSign(",", &rest) else { break }
        }
        return rest.isEmpty && !columns.isEmpty ? columns : nil
    }

    /// Takes a number, or a text with the type that it is cast to.
    private static func takeConstant(_ rest: inout ArraySlice<SQLToken>) -> Bool {
        guard let constant = rest.popFirst(), constant.kind == .text || constant.isNumber else { return false }
        guard takeSign(":", &rest) else { return true }
        guard takeSign(":", &rest) else { return false }
        rest = rest.drop { $0.kind == .word }
        return true
    }

    private static func takeSign(_ sign: String, _ rest: inout ArraySlice<SQLToken>) -> Bool {
        guard let first = rest.first, first.isSign(sign) else { return false }
        rest.removeFirst()
        return true
    }
}
