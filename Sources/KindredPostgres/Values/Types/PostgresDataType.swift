/// A PostgreSQL data type, named by its OID.
///
/// The OIDs of built-in types are the same in every database; the OIDs of enums, domains and extensions' types differ.
public struct PostgresDataType: RawRepresentable, Hashable, Sendable {
    /// The type's OID.
    public let rawValue: UInt32

    /// The type with an OID.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

extension PostgresDataType {
    /// No type given: the server infers it from the parameter's place.
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
    /// A literal whose type is not yet inferred.
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
