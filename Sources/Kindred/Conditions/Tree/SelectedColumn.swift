import KindredPostgres

/// A value that a request selects from each row.
enum SelectedColumn: Sendable {
    /// An attribute at a key path.
    case path(String)
    /// A calculation, by its number.
    case value(ConditionExpression, Int)

    /// The key path; a calculation has none.
    var keyPath: String {
        switch self {
        case .path(let path): path
        case .value(_, let number): "the value \(number)"
        }
    }
}
