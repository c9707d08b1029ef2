package import KindredPostgres

extension SortTerm {
    /// One of several values of a sort key; the first value that is not NULL counts.
    package enum Alternative: Sendable, Hashable {
        /// An attribute, or a path over to-one relationships to one.
        case path([String])
        /// A value that is the same for all rows.
        case value(PostgresValue)
    }

    /// The key in words: its path, or its paths with `??` between them; values do not show.
    var label: String {
        if alternatives.isEmpty { return path.joined(separator: ".") }
        return alternatives.map { alternative in
            if case .path(let path) = alternative { path.joined(separator: ".") } else { "…" }
        }.joined(separator: " ?? ")
    }

    /// The key with other paths.
    func mapping(_ named: ([String]) -> [String]) -> SortTerm {
        var term = self
        term.path = named(path)
        term.alternatives = alternatives.map { alternative in
            if case .path(let path) = alternative { .path(named(path)) } else { alternative }
        }
        return term
    }
}
