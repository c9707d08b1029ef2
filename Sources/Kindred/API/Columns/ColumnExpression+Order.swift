extension ColumnExpression {
    /// The path of a column, or of a number of members, to sort by.
    ///
    /// Throws the error of an invalid path, `KindredError` `.invalidRequest` for a calculation.
    var sortPath: [String] {
        get throws {
            switch expression {
            case .path(let keys): return keys
            case .count(let keys): return keys + ["@count"]
            case .invalid(let error): throw error
            default: throw KindredError(.invalidRequest, "A request is sorted by columns, not by calculations")
            }
        }
    }
}
