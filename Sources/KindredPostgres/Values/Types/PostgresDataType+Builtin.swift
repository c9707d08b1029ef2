extension PostgresDataType {
    /// `inet`, an address of a host or a network.
    public static let inet = Self(rawValue: 869)
    /// `cidr`, a network.
    public static let cidr = Self(rawValue: 650)
    /// `macaddr`.
    public static let macaddr = Self(rawValue: 829)
    /// `macaddr8`.
    public static let macaddr8 = Self(rawValue: 774)
    /// `point`.
    public static let point = Self(rawValue: 600)
    /// `lseg`, a line segment.
    public static let lseg = Self(rawValue: 601)
    /// `path`.
    public static let path = Self(rawValue: 602)
    /// `box`.
    public static let box = Self(rawValue: 603)
    /// `polygon`.
    public static let polygon = Self(rawValue: 604)
    /// `line`.
    public static let line = Self(rawValue: 628)
    /// `circle`.
    public static let circle = Self(rawValue: 718)
    /// `regproc`, a function.
    public static let regproc = Self(rawValue: 24)
    /// `regprocedure`, a function with its arguments.
    public static let regprocedure = Self(rawValue: 2202)
    /// `regoper`, an operator.
    public static let regoper = Self(rawValue: 2203)
    /// `regoperator`, an operator with its arguments.
    public static let regoperator = Self(rawValue: 2204)
    /// `regclass`, a table, an index, a view or a sequence.
    public static let regclass = Self(rawValue: 2205)
    /// `regtype`, a type.
    public static let regtype = Self(rawValue: 2206)
    /// `regrole`, a role.
    public static let regrole = Self(rawValue: 4096)
    /// `regnamespace`, a schema.
    public static let regnamespace = Self(rawValue: 4089)
    /// `regconfig`, a text search configuration.
    public static let regconfig = Self(rawValue: 3734)
    /// `regdictionary`, a text search dictionary.
    public static let regdictionary = Self(rawValue: 3769)
    /// `regcollation`, a collation.
    public static let regcollation = Self(rawValue: 4191)
    /// `xid`, a transaction.
    public static let xid = Self(rawValue: 28)
    /// `cid`, a command of a transaction.
    public static let cid = Self(rawValue: 29)
    /// `tsvector`.
    public static let tsvector = Self(rawValue: 3614)
    /// `tsquery`.
    public static let tsquery = Self(rawValue: 3615)
    /// `jsonpath`.
    public static let jsonpath = Self(rawValue: 4072)
    /// `record`, a row whose fields only the statement knows.
    public static let record = Self(rawValue: 2249)
    /// `int4range`.
    public static let int4range = Self(rawValue: 3904)
    /// `int8range`.
    public static let int8range = Self(rawValue: 3926)
    /// `numrange`.
    public static let numrange = Self(rawValue: 3906)
    /// `tsrange`.
    public static let tsrange = Self(rawValue: 3908)
    /// `tstzrange`.
    public static let tstzrange = Self(rawValue: 3910)
    /// `daterange`.
    public static let daterange = Self(rawValue: 3912)
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
