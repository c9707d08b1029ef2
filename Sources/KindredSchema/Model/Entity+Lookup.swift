extension Entity {
    /// Returns the error for a key that is neither an attribute nor a relationship, with the nearest keys.
    public func unknownKey(_ key: String) -> SchemaError {
        let suggestions = nearestKeys(to: key)
        return SchemaError(
            .unknownKey,
            "\(name) has no key \"\(key)\"\(NearestNames.question(suggestions))",
            entity: name.description,
            suggestions: suggestions
        )
    }

    /// Returns the attributes and relationships whose names are nearest to a key, best first.
    public func nearestKeys(to key: String) -> [String] {
        var candidates = attributes.map(\.name)
        for relationship in relationships {
            candidates.append(relationship.name)
            candidates += relationship.aliases
        }
        return NearestNames.suggestions(for: key, among: candidates)
    }
}
