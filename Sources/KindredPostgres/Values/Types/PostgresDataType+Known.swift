extension PostgresDataType {
    /// The array type of this type, if the library decodes and encodes it.
    public var arrayType: PostgresDataType? { Self.arrayTypes[self] }

    /// The element type, if this is the array type of such a type.
    public var elementType: PostgresDataType? { Self.elementTypes[self] }

    /// Whether the library decodes and encodes the type's binary form.
    package var isKnown: Bool { isKnownScalar || builtInKind != nil }

    /// Whether it was made in the database, by a user or an extension: PostgreSQL numbers its own types below 16384.
    package var isUserDefined: Bool { rawValue >= 16_384 }

    /// Whether it is a built-in type that the library decodes and encodes, other than an array.
    var isKnownScalar: Bool { Self.names[self] != nil }

    /// The kind of a structured built-in type.
    var builtInKind: TypeRegistry.Kind? {
        if let element = elementType { return .array(element: element) }
        return Self.kinds[self]
    }

    /// The range type of this type, if the server infers the same type.
    var rangeType: PostgresDataType? {
        switch self {
        case .numeric: .numrange
        case .timestamp: .tsrange
        case .timestamptz: .tstzrange
        case .date: .daterange
        default: nil
        }
    }

    /// Every structured built-in type except arrays.
    package static let structuredTypes: [PostgresDataType] = structured.map(\.type)

    /// Every built-in type that the library decodes and encodes, except arrays.
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
        (.cid, "cid", 1012), (.tsvector, "tsvector", 3643), (.tsquery, "tsquery", 3645),
    ]
    /// Every structured built-in type except arrays: its name, the OID of its arrays, and its kind.
    private static let structured: [(type: PostgresDataType, name: String, array: UInt32?, kind: TypeRegistry.Kind)] = [
        (.jsonpath, "jsonpath", 4073, .versionedText), (.record, "record", 2287, .composite(nil)),
        (.int4range, "int4range", 3905, .range(bound: .int4)), (.int8range, "int8range", 3927, .range(bound: .int8)),
        (.numrange, "numrange", 3907, .range(bound: .numeric)),
        (.tsrange, "tsrange", 3909, .range(bound: .timestamp)),
        (.tstzrange, "tstzrange", 3911, .range(bound: .timestamptz)),
        (.daterange, "daterange", 3913, .range(bound: .date)),
        (Self(rawValue: 4451), "int4multirange", 6150, .multirange(range: .int4range)),
        (Self(rawValue: 4536), "int8multirange", 6157, .multirange(range: .int8range)),
        (Self(rawValue: 4532), "nummultirange", 6151, .multirange(range: .numrange)),
        (Self(rawValue: 4533), "tsmultirange", 6152, .multirange(range: .tsrange)),
        (Self(rawValue: 4534), "tstzmultirange", 6153, .multirange(range: .tstzrange)),
        (Self(rawValue: 4535), "datemultirange", 6155, .multirange(range: .daterange)),
    ]
    private static let kinds = Dictionary(uniqueKeysWithValues: structured.map { ($0.type, $0.kind) })
    private static let names = Dictionary(uniqueKeysWithValues: known.map { ($0.type, $0.name) })
    private static let namesOfKinds = Dictionary(uniqueKeysWithValues: structured.map { ($0.type, $0.name) })
    private static let arrayTypes: [PostgresDataType: PostgresDataType] = {
        let arrays = known.map { ($0.type, $0.array) } + structured.map { ($0.type, $0.array) }
        return arrays.reduce(into: [:]) { types, entry in types[entry.0] = entry.1.map(Self.init(rawValue:)) }
    }()
    private static let elementTypes = Dictionary(uniqueKeysWithValues: arrayTypes.map { ($1, $0) })
}

extension PostgresDataType: CustomStringConvertible {
    /// The type's SQL name, or its OID if it is unknown to the library.
    public var description: String {
        if let name = Self.names[self] ?? Self.namesOfKinds[self] { return name }
        if let element = elementType { return "\(element)[]" }
        return self == .unspecified ? "unspecified" : "type \(rawValue)"
    }
}
