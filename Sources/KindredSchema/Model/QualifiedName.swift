import KindredPostgres

/// The schema-qualified name of a table, view or type, such as `public.person`.
///
/// Tables of tenants with schemas of their own have the name of the template's.
///
/// Names are compared byte by byte, as PostgreSQL does: two spellings of `é` are two names.
public struct QualifiedName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The schema's name, without quotes.
    public let schema: String
    /// The object's own name, without quotes.
    public let name: String
    /// Whether each tenant's schema has such an object; ``schema`` is the template then.
    package let isTenants: Bool

    /// Creates a name from its two unquoted parts.
    public init(schema: String, name: String) {
        self.init(schema: schema, name: name, isTenants: false)
    }

    private init(schema: String, name: String, isTenants: Bool) {
        self.schema = schema
        self.name = name
        self.isTenants = isTenants
    }

    /// A name as the catalog has it, where a mark stands before the schema of tenants' tables.
    package init(catalog schema: String, _ name: String) {
        let isTenants = schema.utf8.first == 0
        self.init(schema: isTenants ? String(schema.dropFirst()) : schema, name: name, isTenants: isTenants)
    }

    /// The name of another object in the same schema.
    package func sibling(_ name: String) -> QualifiedName {
        QualifiedName(schema: schema, name: name, isTenants: isTenants)
    }

    /// The name in SQL; a mark stands for the schemas of tenants.
    package var quoted: String {
        get throws { "\(try quotedSchema).\(try SQLIdentifier.quote(name))" }
    }

    /// The operator of the name in SQL: `OPERATOR("public".=)`.
    package var quotedOperator: String {
        get throws { "OPERATOR(\(try quotedSchema).\(name))" }
    }

    private var quotedSchema: String {
        get throws { try isTenants ? TenantSchema.mark : SQLIdentifier.quote(schema) }
    }

    /// Both parts joined by a dot, unquoted: for people, not for SQL.
    public var description: String {
        "\(schema).\(name)"
    }

    /// Whether both parts have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.schema == right.schema
    }

    /// Orders by schema, then by name, byte by byte.
    public static func < (left: Self, right: Self) -> Bool {
        if left.schema == right.schema { return left.name < right.name }
        return left.schema < right.schema
    }

    /// Hashes the bytes of both parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(schema)
    }
}
