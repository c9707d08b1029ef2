import KindredPostgres
import KindredSchema

// To-many relationships become subqueries, so that no row is repeated.
extension ConditionRenderer {
    /// `ANY`, `ALL` and `NONE` over the members at a path.
    mutating func quantified(
        _ quantifier: ConditionComparison.Quantifier,
        _ comparison: ConditionComparison,
        _ target: Target,
        as operation: ConditionComparison.Operator? = nil
    ) throws -> Rendered {
        // The other side belongs to the object itself, not to the members.
        let right = try operand(comparison.right)
        let member = { (renderer: inout ConditionRenderer, left: Operand) throws -> Rendered in
            let rendered = try renderer.compare(left, operation ?? comparison.operation, right, comparison.ignoresCase)
            return quantifier == .allMembers ? renderer.negation(of: rendered) : rendered
        }
        guard let exists = try exists(target, member) else {
            throw KindredError(
                .invalidCondition,
                "\(quantifier.rawValue) needs a path to many objects or to an array"
            )
        }
        return quantifier == .anyMember ? exists : negation(of: exists)
    }

    /// A condition whose parts all apply to the same member.
    mutating func members(
        _ quantifier: ConditionComparison.Quantifier,
        _ path: [String],
        _ condition: ConditionNode
    ) throws -> Rendered {
        let member = { (renderer: inout ConditionRenderer, member: Operand) throws -> Rendered in
            guard case .row(let place) = member else {
                throw KindredError(
                    .invalidCondition,
                    "\(path.joined(separator: ".")) must lead to objects",
                    key: path.joined(separator: ".")
                )
            }
            let rendered = try renderer.condition(condition, at: place)
            // A missing object at the other end of a to-one relationship has no members.
            return try renderer.isThere(
                place, and: quantifier == .allMembers ? renderer.negation(of: rendered) : rendered)
        }
        guard let exists = try exists(try target(of: path[...], from: root), member) else {
            throw KindredError(
                .invalidCondition,
                "\(quantifier.rawValue) needs a path to many objects; \(path.joined(separator: ".")) is not one",
                key: path.joined(separator: ".")
            )
        }
        return quantifier == .anyMember ? exists : negation(of: exists)
    }

    /// A condition whose paths begin at a place.
    private mutating func condition(_ condition: ConditionNode, at place: Int) throws -> Rendered {
        let outer = root
        root = place
        defer { root = outer }
        return try self.condition(condition)
    }

    /// Whether a condition is true for any of the members or elements; nil for a path to one value or row.
    private mutating func exists(
        _ target: Target,
        _ condition: (inout ConditionRenderer, Operand) throws -> Rendered
    ) throws -> Rendered? {
        switch target {
        case .members(let owner, let relationship, let rest):
            let (place, from, link) = try members(of: owner, relationship)
            let inner: Rendered
            switch try self.target(of: rest, from: place) {
            case .scalar(let scalar) where scalar.type.family != .array: inner = try condition(&self, .scalar(scalar))
            case .row(let row): inner = try condition(&self, .row(row))
            case let further: inner = try exists(further, condition) ?? .never
            }
            let joins = self.joins[places[place].scope]
            return Rendered(
                sql: "EXISTS (SELECT 1 FROM \(from)\(joins) WHERE \(link) AND \(inner.closed))",
                isTwoValued: true
            )
        case .scalar(let array):
            guard array.type.family == .array, let type = array.type.elementType else { return nil }
            let alias = newAlias()
            let element = Scalar(
                sql: "t\(alias).e",
                type: ValueType(elementOf: array.type, type),
                mayBeNull: true,
                label: "an element of \(array.label)"
            )
            let inner = try condition(&self, .scalar(element))
            // A function in FROM expands a row to its fields.
            let elements =
                array.type.mayHoldRows
                ? "(SELECT unnest(\(array.sql)) AS e) AS t\(alias)" : "unnest(\(array.sql)) AS t\(alias)(e)"
            return Rendered(sql: "EXISTS (SELECT 1 FROM \(elements) WHERE \(inner.sql))", isTwoValued: true)
        case .row: return nil
        }
    }

    /// Opens a subquery over the members: their place, the first table, and the join condition with the owner.
    private mutating func members(
        of owner: Int,
        _ relationship: Relationship
    ) throws -> (place: Int, from: String, link: String) {
        let own = try relationship.columns.map { try column($0, of: owner).sql }
        let isOwn = try ofOwnTable(owner)
        let entity = try destination(of: relationship)
        let alias = newAlias()
        joins.append("")
        let label = label(relationship.name, of: owner)
        reads.note(path: label)
        var place = Place(entity: entity, scope: joins.count - 1, alias: alias, label: label)
        var table = try table(entity.name)
        var columns = relationship.destinationColumns
        var holder: Entity? = entity
        if let helper = relationship.helper {
            table = try schema[helper.entity].map { try ownTable($0) } ?? self.table(helper.entity)
            columns = helper.sourceColumns
            holder = schema[helper.entity]
            for column in helper.destinationColumns { reads.note(column, of: helper.entity) }
            place.alias = nil
            place.link = Place.Link(parent: owner, relationship: relationship)
            for (column, referenced) in zip(helper.destinationColumns, relationship.destinationColumns) {
                place.known[referenced] = Scalar(
                    sql: try compared(column, alias, of: holder),
                    type: entity.attribute(named: referenced).map { ValueType($0) } ?? ValueType(.unspecified),
                    mayBeNull: false,
                    label: "\(place.label).\(referenced)"
                )
            }
        }
        for column in columns { reads.note(column, of: relationship.helper?.entity ?? entity.name) }
        places.append(place)
        // A pair in the helper may have no row in the view.
        if entity.isView, relationship.helper != nil { _ = try joined(places.count - 1) }
        let pairs = try pairs(own, columns, alias, of: holder) + isOwn
        return (places.count - 1, "\(table) AS t\(alias)", pairs)
    }

    /// The number of members, or of the members that fulfil a condition, as a subquery.
    mutating func count(_ path: [String], from start: Int, where condition: ConditionNode? = nil) throws -> Scalar {
        let target = try target(of: path[...], from: start)
        if case .scalar(let array) = target, array.type.family == .array, condition == nil {
            return Scalar(
                sql: "cardinality(\(array.sql))",
                type: ValueType(.int4),
                mayBeNull: array.mayBeNull,
                label: "\(array.label).@count"
            )
        }
        guard case .members(let owner, let relationship, let rest) = target, rest.isEmpty else {
            throw KindredError(
                .invalidCondition,
                "@count must follow a relationship to many objects; \(path.joined(separator: ".")) is not one",
                key: path.joined(separator: ".")
            )
        }
        // A missing object has a NULL count, not zero.
        let own = try relationship.columns.map { try column($0, of: owner) }.filter { _ in places[owner].isOptional }
        let (place, from, link) = try members(of: owner, relationship)
        let filter = try condition.map { " AND \(try self.condition($0, at: place).closed)" } ?? ""
        let count = "(SELECT count(*) FROM \(from)\(joins[places[place].scope]) WHERE \(link)\(filter))"
        let isThere = own.map { "\($0.sql) IS NOT NULL" }.joined(separator: " AND ")
        return Scalar(
            sql: own.isEmpty ? count : "CASE WHEN \(isThere) THEN \(count) END",
            type: ValueType(.int8),
            mayBeNull: !own.isEmpty,
            label: "\(path.joined(separator: ".")).@count"
        )
    }
}
