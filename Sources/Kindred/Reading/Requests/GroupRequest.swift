public import KindredPostgres
import KindredSchema

/// A request for aggregates over groups of rows; made by ``FetchRequest/group(by:aggregates:)``.
public struct GroupRequest: Sendable {
    /// How an aggregate is compared with a value.
    public enum Comparison: String, Sendable {
        case equal = "="
        /// A group without a total, the sum of no values, counts as different from any value, as nil does in Swift.
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        fileprivate var operation: ConditionComparison.Operator {
            switch self {
            case .equal: .equal
            case .notEqual: .notEqual
            case .less: .less
            case .lessOrEqual: .lessOrEqual
            case .greater: .greater
            case .greaterOrEqual: .greaterOrEqual
            }
        }
    }

    private let context: DatabaseContext
    /// The names of the values in a result.
    private let names: [String]
    private var query: GroupQuery

    init(context: DatabaseContext, query: SelectQuery, keyPaths: [String], aggregates: [Aggregate]) throws {
        self.context = context
        names = keyPaths + aggregates.map(\.description)
        self.query = GroupQuery(rows: query, keys: keyPaths.map(\.keys), totals: aggregates.map(\.term))
        _ = try self.query.statement(in: context.schema)
    }

    /// Adds a condition on an aggregate to the earlier ones.
    ///
    /// A group whose aggregate is NULL, such as the sum of no values, is left out, except that it is `.notEqual` to every value. Throws `KindredError` `.wrongType` for a value of another type.
    public func having(
        _ aggregate: Aggregate,
        _ comparison: Comparison,
        _ value: any PropertyValue
    ) throws -> GroupRequest {
        guard case .value(let content?) = try value.propertyContent else {
            throw KindredError(
                .wrongType,
                "\(aggregate) is compared with one value",
                entity: query.entity.name.description
            )
        }
        let condition = ConditionComparison(.total(aggregate.term), comparison.operation, with: .value(content))
        return try changed { $0.conditions.append(.comparison(condition)) }
    }

    /// Sorts the groups by an aggregate, which need not be in the result: `sorted(.count, ascending: false)`.
    ///
    /// Later calls sort groups that are equal for earlier calls, and the request's own order comes after all of them.
    /// NULL comes last, and first when descending, unless `nulls` says otherwise. Throws `KindredError` as
    /// ``FetchRequest/group(by:aggregates:)`` does. Sends nothing.
    public func sorted(
        _ aggregate: Aggregate, ascending: Bool = true, nulls: NullOrder = .standard
    ) throws -> GroupRequest {
        let key = GroupQuery.SortKey(value: .total(aggregate.term), ascending: ascending, nulls: nulls)
        return try changed { $0.order.append(key) }
    }

    private func changed(_ change: (inout GroupQuery) -> Void) throws -> GroupRequest {
        var request = self
        change(&request.query)
        _ = try request.query.statement(in: context.schema)
        return request
    }

    /// The groups, each as a dictionary by key path and by the name of the aggregate, such as `sum(price)`.
    ///
    /// One query.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [[String: PostgresValue?]] {
        return try await context.core.client.called(at: fileID, line) {
            let statement = try query.statement(in: context.schema)
            let result = try await context.core.read(statement, for: query.entity.name)
            return try (0..<result.count).map { row in
                var values: [String: PostgresValue?] = [:]
                for (column, name) in names.enumerated() {
                    values.updateValue(try result.value(row: row, column: column), forKey: name)
                }
                return values
            }
        }
    }

    /// The SQL of the request, with `$1`, `$2`, … for its values.
    public var sql: String {
        get throws { context.core.client.text(of: try query.statement(in: context.schema)) }
    }
}
