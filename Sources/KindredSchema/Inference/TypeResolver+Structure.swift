import KindredPostgres

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
