package import KindredPostgres

extension Attribute {
    /// What the values of a type that is not built in are made of, as far as the library reads them.
    package indirect enum Structure: Sendable, Hashable {
        /// Text: `ltree` and its like.
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
    /// What the values of a type are made of; nil for one that is built in, or that the library cannot read.
    func structure(of type: UInt32, depth: Int = 0) -> Attribute.Structure? {
        let type = PostgresDataType(rawValue: type)
        // Types cannot be circular in PostgreSQL; the bound is for catalogs that are not its own.
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
        // What code of the user's reads stays text in objects, so that every program sees the same.
        case .custom, .array, .domain, .composite(nil), nil: return nil
        }
    }

    /// The kind of a part's values; nil where the library cannot read them.
    private func kind(of type: PostgresDataType, _ depth: Int) -> String? {
        let resolved = resolve(type.rawValue, modifier: -1)
        let element = PostgresDataType(rawValue: resolved.element ?? resolved.base)
        let suffix = resolved.element == nil ? "" : "[]"
        if resolved.labels != nil { return "enum\(suffix)" }
        if element.isKnown { return Attribute.kind(of: element) + suffix }
        return structure(of: element.rawValue, depth: depth + 1).map { $0.kind + suffix }
    }
}
