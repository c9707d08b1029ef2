import KindredPostgres
import KindredSchema

extension ConditionResolver {
    /// The keys of sort terms.
    mutating func order(_ terms: [SortTerm]) throws -> [ResolvedSortKey] {
        if terms.isEmpty { return [] }
        return try terms.map {
            ResolvedSortKey(value: try key($0).value, direction: $0.nulls.direction(ascending: $0.ascending))
        }
    }

    /// The expression of a sort term.
    mutating func key(_ term: SortTerm) throws -> Scalar {
        if !term.alternatives.isEmpty { return try key(term.alternatives) }
        let path = name(of: term.path)
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

    /// A value of members to sort by.
    mutating func key(_ order: MemberSortKey) throws -> Scalar {
        guard let expression = order.expression, case .scalar(let scalar) = try operand(expression) else {
            throw KindredError(.invalidCursor, "A cursor's text does not hold the condition on members")
        }
        if scalar.type.hasOrder { return scalar }
        throw KindredError(
            .invalidRequest, "\(scalar.label) is of the type \(scalar.type.typeName), which has no order",
            entity: places[0].entity.name.description, key: scalar.label)
    }

    /// The value of a sort term with alternatives.
    mutating func key(_ alternatives: [SortTerm.Alternative]) throws -> Scalar {
        var key: Operand = .value(nil)
        for alternative in alternatives.reversed() {
            switch alternative {
            case .path(let path): key = try coalesced(.scalar(try self.key(SortTerm(path: path))), key)
            case .value(let value): key = .value(value)
            case .members(let order): key = try coalesced(.scalar(try self.key(order)), key)
            }
        }
        if case .scalar(let scalar) = key { return scalar }
        throw KindredError(
            .invalidRequest, "A request is sorted by columns: a value is the same for all rows",
            entity: places[0].entity.name.description)
    }
}

extension Parameters {
    /// Appends a number of rows as a parameter, and returns it.
    mutating func bind(_ count: Int, named name: String, of entity: Entity) throws -> Parameter {
        guard count >= 0 else {
            throw KindredError(
                .invalidRequest,
                "The \(name) of a request cannot be negative; it is \(count)",
                entity: entity.name.description
            ).ofInput
        }
        return try self.count(count)
    }
}

extension NullOrder {
    /// The direction after the key in ORDER BY, with a leading space.
    func direction(ascending: Bool) -> String {
        let direction = ascending ? "" : " DESC"
        switch self {
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
            let path = term.label
            guard term.alternatives.isEmpty, let position = keyPaths.firstIndex(of: path) else { throw unknown(path) }
            sql +=
                "\(sql.isEmpty ? " ORDER BY " : ", ")\(position + 1)\(term.nulls.direction(ascending: term.ascending))"
        }
        return sql
    }
}

extension ConditionResolver {
    /// The position among an owner's members and then the key, the order of loaded members.
    mutating func order(_ order: MemberOrder) throws -> [ResolvedSortKey] {
        let entity = places[0].entity
        func own(_ name: String) -> ValueTerm {
            reads.note(name, at: 0)
            return .column(RowColumn(alias: 0, name: name, comparedType: nil))
        }
        let position: ValueTerm
        if let helper = order.relationship.helper {
            let rows = schema[helper.entity]
            let row = JoinedRow(alias: newAlias(), entity: rows)
            let pairs = zip(helper.sourceColumns, order.ownerValues)
            var link: [ConditionTerm] = try pairs.enumerated().map { place, pair in
                let (column, value) = pair
                let type = rows?.attribute(named: column).map { ValueType($0) } ?? ValueType(.unspecified)
                let scalar = Scalar(value: .column(row.column(column)), type: type, mayBeNull: false, label: column)
                return row.equals(column, try bind(value, as: scalar), by: helper.sourceComparisons.at(place))
            }
            let member = JoinedRow(alias: 0, entity: entity)
            for referenced in order.relationship.destinationColumns { reads.note(referenced, at: 0) }
            link += row.refers(
                helper.destinationColumns, to: member, order.relationship.destinationColumns,
                by: helper.destinationComparisons)
            // The members are chosen already, hidden pairs among them where nothing is filtered.
            let source = RowSource(helper.entity, rows, alias: row.alias, scope: linkedScope(row, .own))
            let column = ValueTerm.column(RowColumn(alias: row.alias, name: order.position, comparedType: nil))
            position = .ofMembers(.function("min", column), MemberRows(source: source, link: link))
            let read = reads.pair(helper.entity, path: PairLink.key)
            for column in helper.sourceColumns + helper.destinationColumns + [order.position] {
                reads.note(column, at: read)
            }
        } else {
            position = own(order.position)
        }
        let first = ResolvedSortKey(value: position, direction: " NULLS LAST")
        return [first] + entity.identity.map { ResolvedSortKey(value: own($0), direction: "") }
    }
}
