import KindredPostgres
import KindredSchema

extension ConditionRenderer {
    /// ` ORDER BY …`, or nothing for no terms.
    mutating func order(_ terms: [SortTerm]) throws -> String {
        var sql = ""
        for term in terms {
            sql += sql.isEmpty ? " ORDER BY " : ", "
            sql += try key(term).sql + term.direction
        }
        return sql
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
    mutating func bind(_ count: Int, _ name: String, _ entity: Entity) throws -> String {
        guard count >= 0 else {
            throw KindredError(
                .invalidRequest,
                "The \(name) of a request cannot be negative; it is \(count)",
                entity: entity.name.description
            )
        }
        return try parameters.count(count).description
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

extension ConditionRenderer {
    /// ` ORDER BY` the position among an owner's members and then the key, the order of loaded members.
    mutating func order(_ order: MemberOrder) throws -> String {
        let entity = places[0].entity
        var position = "t0.\(try SQLIdentifier.quote(order.position))"
        if let helper = order.relationship.helper {
            let alias = newAlias()
            let rows = schema[helper.entity]
            var conditions = try zip(helper.sourceColumns, order.ownerValues).map { column, value in
                let type = rows?.attribute(named: column).map { ValueType($0) } ?? ValueType(.unspecified)
                let scalar = Scalar(sql: "", type: type, mayBeNull: false, label: column)
                return "\(try compared(column, alias, of: rows)) = \(try bind(value, as: scalar))"
            }
            for (column, referenced) in zip(helper.destinationColumns, order.relationship.destinationColumns) {
                conditions.append(
                    "\(try compared(column, alias, of: rows)) = \(try compared(referenced, 0, of: entity))")
            }
            let table = try rows.map { try ownTable($0) } ?? table(helper.entity)
            position = """
                (SELECT min(t\(alias).\(try SQLIdentifier.quote(order.position))) FROM \(table) \
                AS t\(alias) WHERE \(conditions.joined(separator: " AND ")))
                """
        }
        let keys = try entity.identity.map { "t0.\(try SQLIdentifier.quote($0))" }
        return " ORDER BY \((["\(position) NULLS LAST"] + keys).joined(separator: ", "))"
    }
}
