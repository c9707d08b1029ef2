extension PostgresDataType {
    /// The type of arrays of this type, where it is one of those that the library reads and writes itself.
    public var arrayType: PostgresDataType? { Self.arrayTypes[self] }

    /// The type of an array's elements, where this is the type of arrays of such a type.
    public var elementType: PostgresDataType? { Self.elementTypes[self] }

    /// Whether the library can read and write the type's binary form.
    package var isKnown: Bool { isKnownScalar || Self.elementTypes[self] != nil }

    /// Whether it is one of the built-in types that the library reads and writes, and no array.
    var isKnownScalar: Bool { Self.names[self] != nil }

    /// Every built-in type that the library reads and writes, arrays left out.
    package static let knownScalars: [PostgresDataType] = known.map(\.type)

    /// Every type with a codec: its name and the OID of its arrays.
    private static let known: [(type: PostgresDataType, name: String, array: UInt32?)] = [
        (.bool, "boolean", 1000), (.bytea, "bytea", 1001), (.char, "\"char\"", 1002), (.name, "name", 1003),
        (.int2, "smallint", 1005), (.int4, "integer", 1007), (.text, "text", 1009), (.bpchar, "character", 1014),
        (.varchar, "character varying", 1015), (.int8, "bigint", 1016), (.float4, "real", 1021),
        (.float8, "double precision", 1022), (.oid, "oid", 1028), (.json, "json", 199), (.jsonb, "jsonb", 3807),
        (.xml, "xml", 143), (.date, "date", 1182), (.time, "time without time zone", 1183),
        (.timetz, "time with time zone", 1270), (.timestamp, "timestamp without time zone", 1115),
        (.timestamptz, "timestamp with time zone", 1185), (.interval, "interval", 1187), (.numeric, "numeric", 1231),
        (.uuid, "uuid", 2951), (.unknown, "unknown", nil), (.money, "money", 791), (.bit, "bit", 1561),
        (.varbit, "bit varying", 1563), (.inet, "inet", 1041), (.cidr, "cidr", 651), (.macaddr, "macaddr", 1040),
        (.macaddr8, "macaddr8", 775), (.point, "point", 1017), (.lseg, "lseg", 1018), (.path, "path", 1019),
        (.box, "box", 1020), (.polygon, "polygon", 1027), (.line, "line", 629), (.circle, "circle", 719),
        (.regproc, "regproc", 1008), (.regprocedure, "regprocedure", 2207), (.regoper, "regoper", 2208),
        (.regoperator, "regoperator", 2209), (.regclass, "regclass", 2210), (.regtype, "regtype", 2211),
        (.regrole, "regrole", 4097), (.regnamespace, "regnamespace", 4090), (.regconfig, "regconfig", 3735),
        (.regdictionary, "regdictionary", 3770), (.regcollation, "regcollation", 4192), (.xid, "xid", 1011),
        (.cid, "cid", 1012),
    ]
    private static let names = Dictionary(uniqueKeysWithValues: known.map { ($0.type, $0.name) })
    private static let arrayTypes = known.reduce(into: [PostgresDataType: PostgresDataType]()) { types, entry in
        types[entry.type] = entry.array.map(Self.init(rawValue:))
    }
    private static let elementTypes = Dictionary(uniqueKeysWithValues: arrayTypes.map { ($1, $0) })
}

extension PostgresDataType: CustomStringConvertible {
    /// The type's SQL name, or its OID where the library does not know it.
    public var description: String {
        if let name = Self.names[self] { return name }
        if let element = elementType { return "\(element)[]" }
        return self == .unspecified ? "unspecified" : "type \(rawValue)"
    }
}
