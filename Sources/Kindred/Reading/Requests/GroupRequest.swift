public import KindredPostgres
import KindredSchema

/// A request for aggregates over groups of rows; made by ``FetchRequest/group(by:aggregates:)``.
public struct GroupRequest: Sendable {
    /// How an aggregate is compared with a value.
    public enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    let context: DatabaseContext
    let query: SelectQuery
    let keyPaths: [String]
    let aggregates: [Aggregate]
    private var conditions: [(aggregate: Aggregate, comparison: Comparison, value: PostgresValue)] = []

    init(context: DatabaseContext, query: SelectQuery, keyPaths: [String], aggregates: [Aggregate]) {
        self.context = context
        self.query = query
        self.keyPaths = keyPaths
        self.aggregates = aggregates
    }

    /// Adds a condition on an aggregate to the earlier ones.
    ///
    /// A group whose aggregate is NULL is left out. Throws `KindredError` `.wrongType` for a value of another type.
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
        var request = self
        request.conditions.append((aggregate, comparison, content))
        _ = try request.statement()
        return request
    }

    /// The groups, each as a dictionary by key path and by the name of the aggregate, such as `sum(price)`.
    ///
    /// One query.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [[String: PostgresValue?]] {
        return try await context.core.client.called(at: fileID, line) {
            let names = keyPaths + aggregates.map(\.description)
            let result = try await context.core.client.execute(try statement(), for: query.entity.name)
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
        get throws { try statement().text.text }
    }

    func statement() throws -> Statement {
        guard !keyPaths.isEmpty else { throw invalid("A group needs at least one key path", nil) }
        let order = try query.sort.order(among: keyPaths) { path in
            invalid("Groups can only be sorted by the key paths that they are made by; \(path) is none of them", path)
        }
        return try query.statement(in: context.schema, isSorted: false) { resolver in
            var columns = try keyPaths.map { try resolver.selected($0, isCompared: true).sql }
            for aggregate in aggregates {
                let argument = try resolver.argument(of: aggregate)
                columns.append(try resolver.readable(resolver.aggregate(aggregate, of: argument)).sql)
            }
            // By position: an expression with parameters does not equal its repetition elsewhere in the statement.
            var grouping = " GROUP BY \(keyPaths.indices.map { "\($0 + 1)" }.joined(separator: ", "))"
            var having: [String] = []
            for (aggregate, comparison, value) in conditions {
                let scalar = resolver.aggregate(aggregate, of: try resolver.argument(of: aggregate))
                let value = try resolver.bind(value, as: scalar)
                having.append("\(try scalar.value.sql) \(comparison.rawValue) \(try value.sql)")
            }
            if !having.isEmpty { grouping += " HAVING \(having.joined(separator: " AND "))" }
            return SelectQuery.Parts(columns: columns.joined(separator: ", "), grouping: grouping + order)
        }
    }

    private func invalid(_ message: String, _ key: String?) -> KindredError {
        KindredError(.invalidRequest, message, entity: query.entity.name.description, key: key)
    }
}
