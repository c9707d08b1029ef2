public import KindredPostgres

/// A request for some columns of a typed class, as tuples of their own types; made by `FetchRequest.select(_:)`.
///
/// ```swift
/// let rows = try await context.fetch(Book.self).sorted { $0.title }.select(\.title, \.price).all()
/// for (title, price) in rows { print(title, price) }
/// ```
public struct ColumnRequest<each Value: Sendable>: Sendable {
    let request: AttributeRequest

    /// Returns equal rows once.
    ///
    /// Throws `KindredError` `.invalidRequest` if the request sorts by columns that are not selected, or locks its
    /// rows, since a distinct row may stand for several. Sends nothing.
    public func distinct() throws -> ColumnRequest {
        ColumnRequest(request: try request.distinct())
    }

    /// The rows.
    ///
    /// One query. Throws `PostgresError` `.decodingFailed` if a column has changed since the model was read.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [(repeat each Value)] {
        let client = request.context.client
        return try await client.called(at: fileID, line) {
            try await request.result()
        }
        .map { row in
            var column = 0
            func next<Next>(_ type: Next.Type) throws -> Next {
                defer { column += 1 }
                return try property(try row[column], as: type)
            }
            return (repeat try next((each Value).self))
        }
    }

    /// The SQL of the request, with `$1`, `$2`, … for its values.
    public var sql: String { get throws { try request.sql } }
}

extension FetchRequest where Object: TypedObject {
    /// Reads columns only, as tuples: `select(\.title, \.price)`; no objects are made.
    ///
    /// Throws `KindredError` `.unknownKey` for a property that is no column. Sends nothing.
    public func select<each Value: Sendable>(
        _ columns: repeat KeyPath<Object, each Value>
    ) throws -> ColumnRequest<repeat each Value> {
        var keys: [String] = []
        for column in repeat each columns {
            keys += try ColumnPath(.own).appending(column, of: Object.self).checkedKeys()
        }
        return ColumnRequest(
            request: try AttributeRequest(context: context, query: query, columns: keys.map { .path($0) }))
    }

    /// Values in tuples, nil for NULL; no objects are made: columns, columns over to-one relationships, calculations, and
    /// values of members.
    ///
    /// ```swift
    /// let rows = try await request.values {
    ///     ($0.title, $0.author.name, $0.readers.where { $0.user == me }.only { $0.isMuted })
    /// }
    /// ```
    ///
    /// With `isDistinct` equal rows are returned once. One query. Throws `KindredError` `.unknownKey` for a property that is no
    /// column, and as conditions of these values do, before anything is sent.
    public func values<each Value: PostgresDecodable & Sendable>(
        isDistinct: Bool = false, fileID: String = #fileID, line: Int = #line,
        _ columns: (Columns<Object>) throws -> (repeat ColumnExpression<each Value>)
    ) async throws -> [(repeat (each Value)?)] {
        let scope = ColumnScope()
        let selected = try columns(Columns(of: scope))
        var values: [SelectedColumn] = []
        for value in repeat each selected {
            values.append(.value(.scoped(scope, value.expression), values.count + 1))
        }
        let request = try AttributeRequest(context: context, query: query, columns: values)
        return try await (isDistinct ? request.distinct() : request).all(
            as: repeat (each Value).self, fileID: fileID, line: line)
    }
}
