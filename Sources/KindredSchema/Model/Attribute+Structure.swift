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

extension TypeResolver {
    /// The structure of a type's values; nil if it is built in or unknown to the library.
    func structure(of type: UInt32, depth: Int = 0) -> Attribute.Structure? {
        let type = PostgresDataType(rawValue: type)
        // PostgreSQL has no cyclic types; the limit protects against a forged catalog.
        guard depth < 16, !type.isKnown, let registry, registry.isKnown(type) else { return nil }
        switch registry.kind(of: type) {
        case .textLike, .versionedText: return name(of: type) == "citext" ? .citext : .text
        case .hstore: return .hstore
        case .vector: return .vector
        case .range(let bound): return kind(of: bound, depth).map { .range(bound, kind: $0) }
        case .multirange(let range):
            guard case .range(let bound)? = registry.kind(of: range) else { return nil }
            return kind(of: bound, depth).map { .multirange(bound, kind: $0) }
        case .composite(let fields?):
            var kinds: [String] = []
            for field in fields {
                guard let kind = kind(of: field.type, depth) else { return nil }
                kinds.append("\(field.name) \(kind)")
            }
            return .composite(kinds: kinds.joined(separator: ", "))
        // Types with a codec of the user's stay text in objects, so that every program sees the same model.
        case .custom, .array, .domain, .composite(nil), nil: return nil
        }
    }

    /// The kind of a part's values; nil if unknown to the library.
    private func kind(of type: PostgresDataType, _ depth: Int) -> String? {
        let resolved = resolve(type.rawValue, modifier: -1)
        let element = PostgresDataType(rawValue: resolved.element ?? resolved.base)
        let suffix = resolved.element == nil ? "" : "[]"
        if resolved.labels != nil { return "enum\(suffix)" }
        if element.isKnown { return Attribute.kind(of: element) + suffix }
        return structure(of: element.rawValue, depth: depth + 1).map { $0.kind + suffix }
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
