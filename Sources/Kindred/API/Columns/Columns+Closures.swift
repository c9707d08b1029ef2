import KindredPostgres

// Closures on a request's objects: each names its columns by a scope of its own, which is open within the closure only.
extension Columns {
    /// The condition that a closure returns.
    ///
    /// - Parameter keys: the keys that lead from the request's object to the columns' object.
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

    /// The sort key that a closure gives: a column, a value of members, or several of them with `??` between them.
    ///
    /// Throws the error of an invalid path, `KindredError` `.invalidRequest` for another calculation, `.invalidCondition` for a column
    /// of another closure.
    static func sortTerm<Value>(
        at keys: [String] = [], ascending: Bool, nulls: NullOrder,
        _ closure: (Columns) throws -> ColumnExpression<Value>
    ) throws -> SortTerm {
        let scope = ColumnScope()
        let expression = try closure(Columns(ColumnPath(scope, keys))).expression
        switch expression {
        case .coalesced, .ofMembers:
            return SortTerm(try alternatives(expression, of: scope), ascending: ascending, nulls: nulls)
        default: return SortTerm(path: try sortPath(expression, of: scope), ascending: ascending, nulls: nulls)
        }
    }

    private static func alternatives(
        _ expression: ConditionExpression, of scope: ColumnScope
    ) throws -> [SortTerm.Alternative] {
        switch expression {
        case .coalesced(let first, let second):
            return try alternatives(first, of: scope) + alternatives(second, of: scope)
        case .value(let value): return value.map { [.value($0)] } ?? []
        case .ofMembers(let value):
            return [
                .members(MemberSortKey(.scoped(scope, expression), label: value.label, identity: "\(ColumnScope())"))
            ]
        default: return [.path(try sortPath(expression, of: scope))]
        }
    }

    private static func sortPath(_ expression: ConditionExpression, of scope: ColumnScope) throws -> [String] {
        let path: ConditionPath
        let end: [String]
        switch expression {
        case .path(let column): (path, end) = (column, [])
        case .count(let members): (path, end) = (members, ["@count"])
        case .invalid(let error): throw error
        default:
            throw KindredError(
                .invalidRequest, "A request is sorted by columns, values of members and ??, not by other calculations")
        }
        guard path.scope == scope else { throw path.notAround }
        return path.keys + end
    }
}
