/// A PostgreSQL data type, named by its OID.
///
/// The OIDs of the built-in types are the same in every database; those of enums, domains and of types that extensions
/// bring differ from one to the next.
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
    /// `money`.
    public static let money = Self(rawValue: 790)
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
    /// `boolean[]`.
    public static let boolArray = Self(rawValue: 1000)
    /// `bytea[]`.
    public static let byteaArray = Self(rawValue: 1001)
    /// `smallint[]`.
    public static let int2Array = Self(rawValue: 1005)
    /// `integer[]`.
    public static let int4Array = Self(rawValue: 1007)
    /// `bigint[]`.
    public static let int8Array = Self(rawValue: 1016)
    /// `text[]`.
    public static let textArray = Self(rawValue: 1009)
    /// `character varying[]`.
    public static let varcharArray = Self(rawValue: 1015)
    /// `real[]`.
    public static let float4Array = Self(rawValue: 1021)
    /// `double precision[]`.
    public static let float8Array = Self(rawValue: 1022)
    /// `numeric[]`.
    public static let numericArray = Self(rawValue: 1231)
    /// `date[]`.
    public static let dateArray = Self(rawValue: 1182)
    /// `timestamp without time zone[]`.
    public static let timestampArray = Self(rawValue: 1115)
    /// `timestamp with time zone[]`.
    public static let timestamptzArray = Self(rawValue: 1185)
    /// `uuid[]`.
    public static let uuidArray = Self(rawValue: 2951)
    /// `jsonb[]`.
    public static let jsonbArray = Self(rawValue: 3807)
}

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
        (.uuid, "uuid", 2951), (.unknown, "unknown", nil),
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
