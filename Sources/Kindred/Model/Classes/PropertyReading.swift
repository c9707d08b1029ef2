import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a column's values as its property's type.
struct PropertyReading: Sendable {
    /// Reads a row's value as the property would.
    ///
    /// Throws if the property cannot represent the value.
    let check: @Sendable (Row, Int) throws -> Void
    /// Whether the type can represent every value of the column's kind, so that rows need no check.
    let isExact: Bool

    init<Value>(_ type: Value.Type, of valueKind: String, isEnum: Bool) {
        check = { row, position in _ = try property(try row[position], as: Value.self) }
        let type = (Value.self as? any OptionalType.Type)?.wrapped ?? Value.self
        isExact = isEnum ? valueKind == "enum" : Self.isExact(type, valueKind)
    }

    private static func isExact(_ type: Any.Type, _ valueKind: String) -> Bool {
        if type == PostgresValue.self { return true }
        return exactKinds[ObjectIdentifier(type)]?.contains(valueKind) ?? false
    }

    /// The kinds whose every value, as the server sends it, each type can represent.
    private static let exactKinds: [ObjectIdentifier: Set<ServerText>] = [
        ObjectIdentifier(Bool.self): ["boolean"],
        ObjectIdentifier(Int.self): ["integer", "oid"],
        ObjectIdentifier(Float.self): ["real"],
        ObjectIdentifier(Double.self): ["double precision"],
        ObjectIdentifier(PostgresNumeric.self): ["numeric"],
        ObjectIdentifier([UInt8].self): ["bytea"],
        ObjectIdentifier(String.self): ["text"],
        ObjectIdentifier(UUID.self): ["uuid"],
        ObjectIdentifier(PostgresDate.self): ["date"],
        ObjectIdentifier(PostgresTime.self): ["time without time zone"],
        ObjectIdentifier(PostgresTimeTZ.self): ["time with time zone"],
        ObjectIdentifier(PostgresTimestamp.self): ["timestamp without time zone", "timestamp with time zone"],
        ObjectIdentifier(PostgresInterval.self): ["interval"],
        ObjectIdentifier(PostgresInet.self): ["inet", "cidr"],
        ObjectIdentifier(PostgresMACAddress.self): ["macaddr", "macaddr8"],
        ObjectIdentifier(PostgresJSON.self): ["json"],
        ObjectIdentifier([String?].self): ["text[]"],
        ObjectIdentifier([Bool?].self): ["boolean[]"],
        ObjectIdentifier([Int?].self): ["integer[]", "oid[]"],
        ObjectIdentifier([Float?].self): ["real[]"],
        ObjectIdentifier([Double?].self): ["double precision[]"],
        ObjectIdentifier([PostgresNumeric?].self): ["numeric[]"],
        ObjectIdentifier([UUID?].self): ["uuid[]"],
        ObjectIdentifier([PostgresDate?].self): ["date[]"],
        ObjectIdentifier([PostgresTimestamp?].self): ["timestamp without time zone[]", "timestamp with time zone[]"],
    ]
}

/// A value as the type of a property: optional, an array whose elements may be NULL, or a plain value.
///
/// Throws `PostgresError` `.decodingFailed` for a value that the type cannot represent, such as NULL.
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
