public import KindredPostgres

/// A composite type of the database as a Swift struct, as `kindred generate` writes it.
///
/// A field of a composite value may always be NULL, so every property is optional.
///
/// Its neutral value, which a property of an object without a value returns, is a composite of NULLs.
public protocol DatabaseComposite: Hashable, PostgresEncodable, PostgresDecodable, PropertyValue, NeutralValue {
    /// Reads a value.
    ///
    /// Throws `PostgresError` `.decodingFailed` for a field that is missing or of another type.
    init(composite: PostgresComposite) throws

    /// The value, its fields in the order of the type.
    var composite: PostgresComposite { get throws }
}

extension DatabaseComposite {
    /// The value in the database's form.
    public var postgresValue: PostgresValue? {
        get throws { .composite(try composite) }
    }

    /// Reads a value.
    public init(postgresValue: PostgresValue) throws {
        try self.init(composite: try PostgresComposite(postgresValue: postgresValue))
    }
}

// Called by generated structs.
extension PostgresComposite {
    /// The elements of an array field, NULL as nil; for generated code.
    public func decodeArray<Element: PostgresDecodable>(
        _ name: String,
        of type: Element.Type = Element.self
    ) throws -> [Element?]? {
        try decode(name, as: PostgresArray.self)?.elements.map { try $0.map { try Element(postgresValue: $0) } }
    }
}

extension PostgresComposite.Field {
    /// A field of a Swift value; for generated code.
    public init(_ name: String, _ value: (some PostgresEncodable)?) throws {
        self.init(name: name, value: try value?.postgresValue)
    }
}
