package import KindredPostgres

extension Attribute {
    /// The structure of the values of a type that is not built in, as far as the library decodes it.
    package indirect enum Structure: Sendable, Hashable {
        /// Text, such as `ltree`.
        case text
        /// Text that ignores case.
        case citext
        case hstore
        case vector
        /// A composite type with the kinds of its fields.
        case composite(kinds: String)
        /// A range with the type and the kind of its bounds.
        case range(PostgresDataType, kind: String)
        /// Ranges of values.
        case multirange(PostgresDataType, kind: String)

        var kind: String {
            switch self {
            case .text, .citext: "text"
            case .hstore: "hstore"
            case .vector: "vector"
            case .composite(let kinds): "composite(\(kinds))"
            case .range(_, let kind): "range(\(kind))"
            case .multirange(_, let kind): "multirange(\(kind))"
            }
        }
    }
}

extension Attribute {
    /// The kind of the column's values; columns of one kind have one Swift type.
    ///
    /// `integer` for every width of whole numbers, `text` for the text family, `json`, `enum`, the name of any other
    /// built-in type, `composite(…)` with the kinds of its fields, and `other` for types read as text; arrays end with
    /// `[]`, and domains count as their base. Generated code has it, so that a changed column type is found at start-up.
    public var valueKind: String {
        if isReadAsText { return "other" }
        let kind = enumLabels != nil ? "enum" : structure?.kind ?? Self.kind(of: elementType ?? baseType)
        return elementType == nil ? kind : "\(kind)[]"
    }

    /// The kind of a built-in type's values, or of an array of them.
    package static func valueKind(of type: PostgresDataType) -> String {
        type.elementType.map { "\(kind(of: $0))[]" } ?? kind(of: type)
    }

    static func kind(of type: PostgresDataType) -> String {
        switch type {
        case .int2, .int4, .int8: "integer"
        case .text, .varchar, .bpchar, .name, .char, .xml: "text"
        case .json, .jsonb: "json"
        default: type.isKnown ? type.description : "other"
        }
    }
}
