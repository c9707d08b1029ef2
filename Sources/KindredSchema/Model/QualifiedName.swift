import KindredPostgres

/// The schema-qualified name of a table, view or type, such as `public.person`.
///
/// Names are compared byte by byte, as PostgreSQL does: two spellings of `é` are two names.
public struct QualifiedName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The schema's name, without quotes.
    public let schema: String
    /// The object's own name, without quotes.
    public let name: String

    /// Creates a name from its two unquoted parts.
    public init(schema: String, name: String) {
        self.schema = schema
        self.name = name
    }

    /// Both parts joined by a dot, unquoted: for people, not for SQL.
    public var description: String {
        "\(schema).\(name)"
    }

    /// Whether both parts have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.hasSameBytes(as: right.name) && left.schema.hasSameBytes(as: right.schema)
    }

    /// Orders by schema, then by name, byte by byte.
    public static func < (left: Self, right: Self) -> Bool {
        if left.schema.hasSameBytes(as: right.schema) { return left.name.precedesInBytes(right.name) }
        return left.schema.precedesInBytes(right.schema)
    }

    /// Hashes the bytes of both parts.
    public func hash(into hasher: inout Hasher) {
        name.hashBytes(into: &hasher)
        schema.hashBytes(into: &hasher)
    }
}
