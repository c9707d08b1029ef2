import KindredPostgres
import KindredSchema

extension ConditionResolver {
    /// The keys of sort terms.
    mutating func order(_ terms: [SortTerm]) throws -> [ResolvedSortKey] {
        if terms.isEmpty { return [] }
        return try terms.map { ResolvedSortKey(value: try key($0).value, direction: $0.direction) }
    }

    /// The expression of a sort term.
    mutating func key(_ term: SortTerm) throws -> Scalar {
        let path = term.path.joined(separator: ".")
        let problem: String
        if term.path.last == "@count" { return try count(term.path.dropLast(), from: 0) }
        switch try target(of: term.path[...], from: 0) {
        case .scalar(let scalar):
            if scalar.type.hasOrder { return scalar }
            problem = "\(path) is of the type \(scalar.type.typeName), which has no order"
        case .row: problem = "\(path.isEmpty ? "A sort key" : "\"\(path)\"") must end in an attribute to sort by"
        case .members: problem = "\"\(path)\" leads to many objects and cannot be sorted by; its @count can"
        }
        throw KindredError(.invalidRequest, problem, entity: places[0].entity.name.description, key: path)
    }

    /// Appends a number of rows as a parameter, and returns it.
    mutating func bind(_ count: Int, _ name: String, _ entity: Entity) throws -> Parameter {
        guard count >= 0 else {
            throw KindredError(
                .invalidRequest,
                "The \(name) of a request cannot be negative; it is \(count)",
                entity: entity.name.description
            )
        }
        return try parameters.count(count)
    }
}

extension SortTerm {
    /// The direction after the key in ORDER BY, with a leading space.
    fileprivate var direction: String {
        let direction = ascending ? "" : " DESC"
        switch nulls {
        case .standard: return direction
        case .first: return direction + " NULLS FIRST"
        case .last: return direction + " NULLS LAST"
        }
    }
}

extension [SortTerm] {
    /// ` ORDER BY …` by the ordinals of selected key paths: an expression with parameters does not match its other
    /// occurrences in the statement.
    ///
    /// - Parameter unknown: the error for a path that is not selected.
    func order(among keyPaths: [String], unknown: (String) -> KindredError) throws -> String {
        var sql = ""
        for term in self {
            let path = term.path.joined(separator: ".")
            guard let position = keyPaths.firstIndex(of: path) else { throw unknown(path) }
            sql += "\(sql.isEmpty ? " ORDER BY " : ", ")\(position + 1)\(term.direction)"
        }
        return sql
    }
}
