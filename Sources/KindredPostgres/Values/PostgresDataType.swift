/// A PostgreSQL data type, named by its OID.
public struct PostgresDataType: RawRepresentable, Hashable, Sendable {
    /// The type's OID.
    public let rawValue: UInt32

    /// The type with an OID.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

extension PostgresDataType {
    /// No type given: the server infers it from where the parameter stands.
    public static let unspecified = Self(rawValue: 0)
    /// `boolean`.
    public static let bool = Self(rawValue: 16)
    /// `bytea`.
    public static let bytea = Self(rawValue: 17)
    /// `"char"`, one byte.
    public static let char = Self(rawValue: 18)
    /// `name`, an identifier.
    public static let name = Self(rawValue: 19)
    /// `bigint`.
    public static let int8 = Self(rawValue: 20)
    /// `smallint`.
    public static let int2 = Self(rawValue: 21)
    /// `integer`.
    public static let int4 = Self(rawValue: 23)
    /// `text`.
    public static let text = Self(rawValue: 25)
    /// `oid`.
    public static let oid = Self(rawValue: 26)
    /// `json`.
    public static let json = Self(rawValue: 114)
    /// `xml`.
    public static let xml = Self(rawValue: 142)
    /// `real`.
    public static let float4 = Self(rawValue: 700)
    /// `double precision`.
    public static let float8 = Self(rawValue: 701)
    /// A literal whose type is not known yet.
    public static let unknown = Self(rawValue: 705)
    /// `character(n)`.
    public static let bpchar = Self(rawValue: 1042)
    /// `character varying`.
    public static let varchar = Self(rawValue: 1043)
    /// `date`.
    public static let date = Self(rawValue: 1082)
    /// `time without time zone`.
    public static let time = Self(rawValue: 1083)
    /// `timestamp without time zone`.
    public static let timestamp = Self(rawValue: 1114)
    /// `timestamp with time zone`.
    public static let timestamptz = Self(rawValue: 1184)
    /// `interval`.
    public static let interval = Self(rawValue: 1186)
    /// `time with time zone`.
    public static let timetz = Self(rawValue: 1266)
    /// `bit(n)`.
    public static let bit = Self(rawValue: 1560)
    /// `bit varying`.
    public static let varbit = Self(rawValue: 1562)
    /// `numeric`.
    public static let numeric = Self(rawValue: 1700)
    /// `uuid`.
    public static let uuid = Self(rawValue: 2950)
    /// `jsonb`.
    public static let jsonb = Self(rawValue: 3802)
}

extension PostgresDataType {
    /// Name, OID and OID of the array type, for every type with a codec.
    private static let known: [(type: PostgresDataType, name: String, array: UInt32)] = [
        (.bool, "boolean", 1000), (.bytea, "bytea", 1001), (.char, "\"char\"", 1002), (.name, "name", 1003),
        (.int8, "bigint", 1016), (.int2, "smallint", 1005), (.int4, "integer", 1007), (.text, "text", 1009),
        (.oid, "oid", 1028), (.json, "json", 199), (.xml, "xml", 143), (.float4, "real", 1021),
        (.float8, "double precision", 1022), (.bpchar, "character", 1014), (.varchar, "character varying", 1015),
        (.date, "date", 1182), (.time, "time without time zone", 1183),
        (.timestamp, "timestamp without time zone", 1115), (.timestamptz, "timestamp with time zone", 1185),
        (.interval, "interval", 1187), (.timetz, "time with time zone", 1270), (.numeric, "numeric", 1231),
        (.uuid, "uuid", 2951), (.jsonb, "jsonb", 3807),
    ]
    private static let arrays = Dictionary(uniqueKeysWithValues: known.map { ($0.type, Self(rawValue: $0.array)) })
    private static let elements = Dictionary(uniqueKeysWithValues: known.map { (Self(rawValue: $0.array), $0.type) })
    private static let names = Dictionary(uniqueKeysWithValues: known.map { ($0.type, $0.name) })

    /// The type of arrays of this type, where the library knows it.
    public var arrayType: PostgresDataType? { Self.arrays[self] }

    /// The type of an array's elements, where this is the type of arrays that the library knows.
    public var elementType: PostgresDataType? { Self.elements[self] }

    /// Whether the library can read and write the type's binary form.
    package var isKnown: Bool { Self.names[self] != nil || Self.elements[self] != nil }
}

extension PostgresDataType: CustomStringConvertible {
    /// The type's SQL name, or its OID where the library does not know it.
    public var description: String {
        if let name = Self.names[self] { return name }
        if let element = elementType { return "\(element)[]" }
        return self == .unspecified ? "unspecified" : "type \(rawValue)"
    }
}
