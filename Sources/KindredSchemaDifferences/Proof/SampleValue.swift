import KindredDDL
import KindredPostgres

/// Two values of a type, as expressions.
struct SampleValue {
    let first: String
    /// Another value; the same value if the type has only one.
    let second: String

    /// Makes up values; nil for a type of which no value is known.
    ///
    /// - Parameters:
    ///   - type: The type as a cast names it, with its modifier.
    ///   - base: The name of the type; for a domain, of its base type.
    ///   - kind: The type's kind as `pg_type.typtype` has it, or `A` for an array.
    ///   - labels: An enum's labels.
    ///   - fields: The number of a composite type's attributes.
    init?(type: String, base: String, kind: String, labels: [String], fields: Int) {
        func pair(_ first: String, _ second: String) -> (String, String) {
            ("\(DDL.literal(first))::\(type)", "\(DDL.literal(second))::\(type)")
        }
        let values: (String, String)? =
            switch kind {
            case "A": pair("{}", "{}")
            case "e": labels.first.map { pair($0, labels.last ?? $0) }
            case "r": pair("empty", "empty")
            case "m": pair("{}", "{}")
            case "c":
                {
                    let row = "ROW(\(repeatElement("NULL", count: fields).joined(separator: ", ")))::\(type)"
                    return (row, row)
                }()
            default:
                switch base {
                // Bits that are too few are an error in a text.
                case "bit", "varbit": ("B'1'::\(type)", "B'0'::\(type)")
                case "numeric" where Self.isFraction(type): pair("0", "0.1")
                default: Self.texts[base].map { pair($0.0, $0.1) }
                }
            }
        guard let values else { return nil }
        (first, second) = values
    }

    /// Whether all digits stand behind the point: `numeric(2,2)`.
    private static func isFraction(_ type: String) -> Bool {
        let digits = type.split { !$0.isNumber }.compactMap { Int($0) }
        return digits.count == 2 && digits[1] >= digits[0]
    }

    private static let texts: [ServerText: (String, String)] = [
        "bool": ("true", "false"), "int2": ("1", "2"), "int4": ("1", "2"), "int8": ("1", "2"), "numeric": ("1", "2"),
        "float4": ("1", "2"), "float8": ("1", "2"), "money": ("1", "2"), "oid": ("1", "2"), "xid": ("1", "2"),
        "text": ("a", "b"), "varchar": ("a", "b"), "bpchar": ("a", "b"), "name": ("a", "b"), "citext": ("a", "b"),
        "char": ("a", "b"), "bytea": (#"\x01"#, #"\x02"#), "date": ("2000-01-01", "2000-01-02"),
        "timestamp": ("2000-01-01", "2000-01-02"), "timestamptz": ("2000-01-01", "2000-01-02"),
        "time": ("00:00", "01:00"), "timetz": ("00:00+00", "01:00+00"), "interval": ("1 day", "2 days"),
        "uuid": ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"),
        "json": ("{}", #"{"a": 1}"#), "jsonb": ("{}", #"{"a": 1}"#), "jsonpath": ("$", "$.a"), "xml": ("<a/>", "<b/>"),
        "inet": ("127.0.0.1", "127.0.0.2"), "cidr": ("127.0.0.0/8", "10.0.0.0/8"),
        "macaddr": ("00:00:00:00:00:01", "00:00:00:00:00:02"),
        "macaddr8": ("00:00:00:00:00:00:00:01", "00:00:00:00:00:00:00:02"), "point": ("(0,0)", "(1,1)"),
        "line": ("{1,1,0}", "{1,2,0}"), "lseg": ("[(0,0),(1,1)]", "[(0,0),(2,2)]"),
        "box": ("(1,1),(0,0)", "(2,2),(0,0)"),
        "path": ("((0,0),(1,1))", "((0,0),(2,2))"), "polygon": ("((0,0),(1,1))", "((0,0),(2,2))"),
        "circle": ("<(0,0),1>", "<(0,0),2>"), "tsvector": ("a", "b"), "tsquery": ("a", "b"), "pg_lsn": ("0/1", "0/2"),
        "regclass": ("pg_class", "pg_type"), "regtype": ("text", "integer"), "hstore": ("", "a=>1"),
        "ltree": ("a", "b"),
    ]
}
