import KindredPostgres
import KindredSchema

extension ConditionRenderer {
    /// ` ORDER BY …`, or nothing for no terms.
    mutating func order(_ terms: [SortTerm]) throws -> String {
        var sql = ""
        for term in terms {
            sql += sql.isEmpty ? " ORDER BY " : ", "
            sql += try key(term).sql
            if !term.ascending { sql += " DESC" }
            switch term.nulls {
            case .standard: break
            case .first: sql += " NULLS FIRST"
            case .last: sql += " NULLS LAST"
            }
        }
        return sql
    }

    /// What a term sorts by.
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
    mutating func bind(_ count: Int, _ name: String, _ entity: Entity) throws -> String {
        guard count >= 0 else {
            throw KindredError(
                .invalidRequest,
                "The \(name) of a request cannot be negative; it is \(count)",
                entity: entity.name.description
            )
        }
        try bindings.append(.integer(Int64(count)), as: .int8)
        return lastParameter
    }
}
