import KindredPostgres

/// A request for some columns of a typed class, as tuples of their own types; made by ``FetchRequest/select(_:)``.
///
/// ```swift
/// let rows = try await context.fetch(Book.self).sorted { $0.title }.select(\.title, \.price).all()
/// for (title, price) in rows { print(title, price) }
/// ```
public struct ColumnRequest<each Value: Sendable>: Sendable {
    let request: AttributeRequest

    /// Gives equal rows once.
    ///
    /// Throws `KindredError` `.invalidRequest` if the request sorts by what is not selected, which has no meaning then.
    public func distinct() throws -> ColumnRequest {
        ColumnRequest(request: try request.distinct())
    }

    /// The rows.
    ///
    /// One query. Throws `PostgresError` `.decodingFailed` where a column has changed since the model was read.
    public func all() async throws -> [(repeat each Value)] {
        try await request.context.client.execute(try request.statement()).map { row in
            var column = 0
            func next<Next>(_ type: Next.Type) throws -> Next {
                defer { column += 1 }
                return try property(try row[column], as: type)
            }
            return (repeat try next((each Value).self))
        }
    }

    /// What the request sends, with `$1`, `$2`, … for its values.
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
            keys += try ColumnPath().appending(column, of: Object.self).checkedKeys()
        }
        return ColumnRequest(request: try AttributeRequest(context, query, keys))
    }
}

/// A value as the type of a property: optional, an array whose elements may be NULL, or a plain value.
private func property<Value>(_ value: PostgresValue?, as type: Value.Type) throws -> Value {
    let read: Any?
    if let type = type as? any PropertyShape.Type, Value.self != [UInt8].self {
        read = try type.make(value)
    } else {
        read = try value.flatMap { try (type as? any PostgresDecodable.Type)?.init(postgresValue: $0) }
    }
    guard let result = read as? Value else {
        throw PostgresError(.decodingFailed, "A value cannot be read as \(type), the type of its property")
    }
    return result
}

private protocol PropertyShape {
    static func make(_ value: PostgresValue?) throws -> Any?
}

extension Optional: PropertyShape {
    fileprivate static func make(_ value: PostgresValue?) throws -> Any? {
        let result: Self = try value.map { try property($0, as: Wrapped.self) }
        return .some(result as Any)
    }
}

extension Array: PropertyShape {
    fileprivate static func make(_ value: PostgresValue?) throws -> Any? {
        guard case .array(let array) = value else { return nil }
        return try array.elements.map { try property($0, as: Element.self) }
    }
}
