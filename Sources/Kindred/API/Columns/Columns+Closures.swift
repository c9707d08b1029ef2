import KindredPostgres

// Closures on a request's objects: each names its columns by a scope of its own, which is open within the closure only.
extension Columns {
    /// The condition that a closure gives.
    ///
    /// - Parameter keys: the keys that lead to the columns' object from that of the request.
    static func condition(
        at keys: [String] = [], _ closure: (Columns) throws -> Condition
    ) rethrows -> Condition {
        let scope = ColumnScope()
        return Condition(.scoped(scope, try closure(Columns(ColumnPath(scope, keys))).node))
    }

    /// The value that a closure gives.
    static func value<Value>(_ closure: (Columns) throws -> ColumnExpression<Value>) rethrows -> ConditionExpression {
        let scope = ColumnScope()
        return .scoped(scope, try closure(Columns(of: scope)).expression)
    }

    /// The path of a column, or of a number of members, that a closure gives to sort by.
    ///
    /// Throws the error of an invalid path, `KindredError` `.invalidRequest` for a calculation, `.invalidCondition` for a column of
    /// another closure.
    static func sortPath<Value>(
        at keys: [String] = [], _ closure: (Columns) throws -> ColumnExpression<Value>
    ) throws -> [String] {
        let scope = ColumnScope()
        let path: ConditionPath
        let end: [String]
        switch try closure(Columns(ColumnPath(scope, keys))).expression {
        case .path(let column): (path, end) = (column, [])
        case .count(let members): (path, end) = (members, ["@count"])
        case .invalid(let error): throw error
        default: throw KindredError(.invalidRequest, "A request is sorted by columns, not by calculations")
        }
        guard path.scope == scope else { throw path.notAround }
        return path.keys + end
    }
}
