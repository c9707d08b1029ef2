/// A value of a composite type, or a row made by `ROW(…)`.
///
/// ```swift
/// let address = PostgresComposite(["street": "Main Street", "number": 5, "floor": nil])
/// ```
///
/// Two are equal if their fields are.
public struct PostgresComposite: Sendable {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The field's name; nil if it has none or the catalog was not read.
        public let name: String?
        /// Its value, nil for NULL.
        public let value: PostgresValue?

        /// A field.
        public init(name: String? = nil, value: PostgresValue?) {
            self.name = name
            self.value = value
        }
    }

    /// The fields, in the type's order.
    public let fields: [Field]
    /// The composite type; `unspecified` lets the server infer it.
    public let dataType: PostgresDataType

    /// A value with the given fields: the type's fields, in its order.
    public init(fields: [Field], dataType: PostgresDataType = .unspecified) {
        self.fields = fields
        self.dataType = dataType
    }

    /// The value of the first field of a name.
    ///
    /// Throws `PostgresError` `.decodingFailed` if there is none, or if the Swift type cannot represent the value exactly.
    public func decode<Value: PostgresDecodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        guard let field = fields.first(where: { $0.name == name }) else {
            throw PostgresError(.decodingFailed, "The composite value has no field named \"\(name)\"")
        }
        return try field.value.map(Value.init(postgresValue:))
    }
}

extension PostgresComposite: ExpressibleByDictionaryLiteral {
    /// The fields of a type, in its order.
    public init(dictionaryLiteral elements: (String, PostgresValue?)...) {
        self.init(fields: elements.map { Field(name: $0, value: $1) })
    }

    /// The fields of a type, in its order.
    public init(_ fields: KeyValuePairs<String, PostgresValue?>) {
        self.init(fields: fields.map { Field(name: $0, value: $1) })
    }
}

extension PostgresComposite: Hashable {
    /// Whether the fields are the same.
    public static func == (left: PostgresComposite, right: PostgresComposite) -> Bool { left.fields == right.fields }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension PostgresComposite: CustomStringConvertible {
    /// The value as the server prints it: `("Main Street",5,)`.
    public var description: String {
        "(\(fields.map { $0.value.map { PartText.quotedInComposite($0.description) } ?? "" }.joined(separator: ",")))"
    }
}

extension PostgresComposite: PostgresEncodable, PostgresDecodable {
    /// A composite value.
    public var postgresValue: PostgresValue? { .composite(self) }

    /// Reads a composite value.
    public init(postgresValue value: PostgresValue) throws {
        guard case .composite(let composite) = value else { throw Self.mismatch(value) }
        self = composite
    }
}
