import KindredPostgres

/// A value as the type of a property: optional, an array whose elements may be NULL, or a plain value.
///
/// Throws `PostgresError` `.decodingFailed` for a value that the type does not have, NULL among them.
func property<Value>(_ value: PostgresValue?, as type: Value.Type) throws -> Value {
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
