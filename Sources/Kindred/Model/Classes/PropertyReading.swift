import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a property's type reads the values of its column.
struct PropertyReading: Sendable {
    /// Reads a row's value as the property would.
    ///
    /// Throws what keeps the property from it.
    let check: @Sendable (Row, Int) throws -> Void
    /// Whether the type has every value that the column's kind has, so that none has to be read to know that it can be.
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

    /// The kinds of values of which each type has all, as the server sends them.
    private static let exactKinds: [ObjectIdentifier: Set<String>] = [
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
