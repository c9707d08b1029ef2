import KindredPostgres

/// A request for totals over groups of a typed class's rows, as tuples of the keys and then the totals; made by
/// ``FetchRequest/group(by:_:)``.
///
/// ```swift
/// let loads = try await context.fetch(Purchase.self)
///     .group(by: { $0.store.city }) { ($0.count, $0.maximum { $0.placedAt }) }
///     .having { $0.count > 100 }
///     .sorted(ascending: false) { $0.count }
///     .all()
/// for (city, count, latest) in loads { print(city, count, latest) }
/// ```
public struct TypedGroupRequest<Object: TypedObject, Row: Sendable>: Sendable {
    private let context: DatabaseContext
    private var query: GroupQuery
    private let read: @Sendable (inout GroupReader) throws -> Row

    fileprivate init(
        context: DatabaseContext, query: GroupQuery, read: @escaping @Sendable (inout GroupReader) throws -> Row
    ) throws {
        (self.context, self.query, self.read) = (context, query, read)
        _ = try query.statement(in: context.schema)
    }

    /// Keeps the groups whose totals fulfil a condition, which is added to the earlier ones: `having { $0.count > 3 }`.
    ///
    /// Sends nothing. Throws `KindredError` `.unknownKey` for a property that is no column, `.wrongType` for values that cannot be
    /// compared.
    public func having(_ condition: (GroupConditions<Object>) throws -> Condition) throws -> TypedGroupRequest {
        let condition = try condition(GroupConditions())
        return try changed { $0.conditions.append(condition.node) }
    }

    /// Sorts the groups by a total, which need not be in the result: `sorted(ascending: false) { $0.count }`.
    ///
    /// Later calls sort groups that are equal for earlier calls, and the request's own order comes after all of them.
    /// NULL comes last, and first when descending, unless `nulls` says otherwise. Sends nothing. Throws `KindredError`
    /// `.unknownKey` for a property that is no column.
    public func sorted<Value>(
        ascending: Bool = true,
        nulls: NullOrder = .standard,
        _ total: (GroupConditions<Object>) throws -> ColumnExpression<Value>
    ) throws -> TypedGroupRequest {
        let value = try total(GroupConditions()).expression
        return try changed { $0.order.append(.init(value: value, ascending: ascending, nulls: nulls)) }
    }

    private func changed(_ change: (inout GroupQuery) -> Void) throws -> TypedGroupRequest {
        var request = self
        change(&request.query)
        _ = try request.query.statement(in: context.schema)
        return request
    }

    /// The groups.
    ///
    /// One query. Throws `PostgresError` `.decodingFailed` for a total that its type cannot hold, or if a column has changed since
    /// the model was read.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [Row] {
        let result = try await context.core.client.called(at: fileID, line) {
            try await context.core.read(try query.statement(in: context.schema), for: query.entity.name)
        }
        return try (0..<result.count).map { row in
            var reader = GroupReader(result: result, row: row)
            return try read(&reader)
        }
    }

    /// The groups as values of a type of the program's, made from the keys and then the totals: `all(into: Load.init)`.
    ///
    /// One query. Throws as ``all(fileID:line:)`` does, and the errors of the function.
    public func all<each Value, Result>(
        into make: (repeat each Value) throws -> Result, fileID: String = #fileID, line: Int = #line
    ) async throws -> [Result] where Row == (repeat each Value) {
        try await all(fileID: fileID, line: line).map { row in try make(repeat each row) }
    }

    /// The SQL of the request, with `$1`, `$2`, … for its values.
    public var sql: String {
        get throws { context.core.client.text(of: try query.statement(in: context.schema)) }
    }
}

/// Reads the values of a row, one after the other.
private struct GroupReader {
    let result: QueryResult
    let row: Int
    private var column = 0

    init(result: QueryResult, row: Int) {
        (self.result, self.row) = (result, row)
    }

    mutating func next<Value>(_ type: Value.Type) throws -> Value {
        defer { column += 1 }
        return try property(try result.value(row: row, column: column), as: type)
    }

    mutating func next<Value>(_ total: GroupTotal<Value>) throws -> Value {
        defer { column += 1 }
        return try total.read(try result.value(row: row, column: column))
    }
}

extension FetchRequest where Object: TypedObject {
    /// Groups the rows by one column or several, and computes totals of each group.
    ///
    /// ```swift
    /// let loads = try await context.fetch(Task.self)
    ///     .group(by: { $0.assignee.fullName }) { ($0.count, $0.sum { $0.estimate } ?? 0) }
    ///     .all()
    /// for (name, count, estimate) in loads { print(name ?? "-", count, estimate) }
    /// ```
    ///
    /// A group is a tuple of the keys and then the totals, or a value of a type of the program's by
    /// ``TypedGroupRequest/all(into:fileID:line:)``. The request's sort keys must be among the keys; its limit and offset count groups.
    /// Throws `KindredError` `.unknownKey` for a property that is no column, `.invalidRequest` for a total that the type does not
    /// have. Sends nothing.
    public func group<each Key: Sendable, each Total: Sendable>(
        by keys: (GroupKeys<Object>) throws -> (repeat GroupKey<each Key>),
        _ totals: (GroupTotals<Object>) throws -> (repeat GroupTotal<each Total>)
    ) throws -> TypedGroupRequest<Object, (repeat each Key, repeat each Total)> {
        let scope = ColumnScope()
        let keys = try keys(GroupKeys(ColumnPath(scope)))
        let totals = try totals(GroupTotals())
        var paths: [[String]] = []
        for key in repeat each keys { paths.append(try key.path.checkedKeys(of: scope)) }
        var terms: [AggregateTerm] = []
        for total in repeat each totals { terms.append(total.term) }
        @Sendable func readKeys(_ reader: inout GroupReader) throws -> (repeat each Key) {
            (repeat try reader.next((each Key).self))
        }
        @Sendable func readTotals(_ reader: inout GroupReader) throws -> (repeat each Total) {
            (repeat try reader.next(each totals))
        }
        let query = GroupQuery(rows: query, keys: paths, totals: terms)
        return try TypedGroupRequest(context: context, query: query) { reader in
            let keys = try readKeys(&reader)
            let totals = try readTotals(&reader)
            return (repeat each keys, repeat each totals)
        }
    }
}
