import KindredPostgres
import KindredSchema

// To-many relationships become subqueries, so that no row is repeated.
extension ConditionResolver {
    /// `ANY`, `ALL` and `NONE` over the members at a path.
    mutating func quantified(
        _ quantifier: ConditionComparison.Quantifier,
        _ comparison: ConditionComparison,
        over target: Target,
        as operation: ConditionComparison.Operator? = nil
    ) throws -> ResolvedTerm {
        // The other side belongs to the object itself, not to the members.
        let right = try operand(comparison.right)
        let member = { (resolver: inout ConditionResolver, left: Operand) throws -> ResolvedTerm in
            let term = try resolver.compare(
                left, operation ?? comparison.operation, with: right, ignoresCase: comparison.ignoresCase)
            return quantifier == .allMembers ? term.negation : term
        }
        guard let exists = try exists(target, member) else {
            throw KindredError(
                .invalidCondition,
                "\(quantifier.rawValue) needs a path to many objects or to an array"
            )
        }
        return quantifier == .anyMember ? exists : exists.negation
    }

    /// A condition whose parts all apply to the same member.
    mutating func members(
        _ quantifier: ConditionComparison.Quantifier, _ condition: MemberCondition
    ) throws -> ResolvedTerm {
        let (start, path) = (try place(of: condition.members), condition.members.keys)
        let member = { (resolver: inout ConditionResolver, member: Operand) throws -> ResolvedTerm in
            guard case .row(let place) = member else {
                let name = resolver.name(of: path, from: start)
                throw KindredError(
                    .invalidCondition,
                    "\(name) must lead to objects",
                    key: name
                )
            }
            let term = try resolver.opening(condition.scope, at: place) { try $0.condition(condition.condition) }
            // A missing object at the other end of a to-one relationship has no members.
            return try resolver.isThere(place, and: quantifier == .allMembers ? term.negation : term)
        }
        guard let exists = try exists(try target(of: condition.members), member) else {
            let name = name(of: path, from: start)
            throw KindredError(
                .invalidCondition,
                "\(quantifier.rawValue) needs a path to many objects; \(name) is not one",
                key: name
            )
        }
        return quantifier == .anyMember ? exists : exists.negation
    }

    /// Whether a condition is true for any of the members or elements; nil for a path to one value or row.
    private mutating func exists(
        _ target: Target,
        _ condition: (inout ConditionResolver, Operand) throws -> ResolvedTerm
    ) throws -> ResolvedTerm? {
        switch target {
        case .members(let owner, let relationship, let rest):
            var (place, rows) = try members(of: owner, relationship)
            let inner: ResolvedTerm
            switch try self.target(of: rest, from: place) {
            case .scalar(let scalar) where scalar.type.family != .array: inner = try condition(&self, .scalar(scalar))
            case .row(let row): inner = try condition(&self, .row(row))
            case let further: inner = try exists(further, condition) ?? .never
            }
            rows.joins = joins[places[place].scope]
            if case .always = inner.term {} else { rows.condition = rows.condition.and(inner.term) }
            return ResolvedTerm(term: .exists(rows), isTwoValued: true)
        case .scalar(let array):
            guard array.type.family == .array, let type = array.type.elementType else { return nil }
            let alias = newAlias()
            let element = Scalar(
                value: .element(alias: alias),
                type: ValueType(elementOf: array.type, type),
                mayBeNull: true,
                label: "an element of \(array.label)"
            )
            let inner = try condition(&self, .scalar(element))
            let rows = ConditionTerm.ArrayRows(
                array: array.value, alias: alias, mayHoldRows: array.type.mayHoldRows)
            return ResolvedTerm(term: .anyElement(rows, inner.term), isTwoValued: true)
        case .row: return nil
        }
    }

    /// Opens a subquery over the members: their place, and their rows, to which joins are added.
    private mutating func members(
        of owner: Int,
        _ relationship: Relationship
    ) throws -> (place: Int, rows: MemberRows) {
        let own = try relationship.columns.map { try column($0, of: owner).value }
        let isOwn = try ofOwnTable(owner)
        let entity = try destination(of: relationship)
        let alias = newAlias()
        joins.append([])
        let read = reads.follow(relationship, from: places[owner].read)
        var place = Place(
            entity: entity, scope: joins.count - 1, read: read, alias: alias,
            label: label(relationship.name, of: owner))
        var row = JoinedRow(alias: alias, entity: entity)
        let columns = relationship.helper?.sourceColumns ?? relationship.destinationColumns
        if let helper = relationship.helper {
            row = JoinedRow(alias: alias, entity: schema[helper.entity])
            for column in helper.destinationColumns + columns { reads.note(helperColumn: column, at: read) }
            place.alias = nil
            place.link = Place.Link(parent: owner, relationship: relationship)
            let pairs = zip(helper.destinationColumns, relationship.destinationColumns)
            for (position, (column, referenced)) in pairs.enumerated() {
                let own = ValueTerm.column(row.column(column))
                place.known[referenced] = Scalar(
                    value: helper.destinationComparisons.at(position)?.type.map { .cast(own, to: $0) } ?? own,
                    type: entity.attribute(named: referenced).map { ValueType($0) } ?? ValueType(.unspecified),
                    mayBeNull: false,
                    label: "\(place.label).\(referenced)"
                )
            }
        }
        if relationship.helper == nil { for column in columns { reads.note(column, at: read) } }
        try append(place)
        // A pair in the helper may have no row in the view, or a row that a policy hides.
        if entity.isView || schema.hidesRows(of: entity), relationship.helper != nil {
            _ = try joined(places.count - 1)
        }
        let number = places.count - 1
        let comparisons = relationship.helper?.sourceComparisons ?? relationship.comparisons
        let isReferenced = relationship.holdsForeignKey && relationship.helper == nil
        let link = row.equals(columns, own, by: comparisons, isReferenced: isReferenced) + isOwn
        guard let helper = relationship.helper else {
            let source = RowSource(entity.name, entity, alias: alias, scope: try memberScope(at: number))
            return (number, MemberRows(source: source, link: link))
        }
        let scope = try pairScope(of: row, read: read, in: places[number].scope)
        let source = RowSource(helper.entity, row.entity, alias: alias, scope: scope)
        return (number, MemberRows(source: source, link: link, condition: try filter(at: number)))
    }

    /// The scope of a helper's rows in a subquery.
    private mutating func pairScope(of row: JoinedRow, read: Int, in scope: Int) throws -> RowScope {
        guard let entity = row.entity else { return linkedScope(row, .own) }
        var place = Place(entity: entity, scope: scope, read: read, alias: row.alias, label: PairLink.key)
        place.isPair = true
        try append(place)
        return try pairScope(at: places.count - 1)
    }

    /// The number of members as a subquery, or of an array's elements.
    mutating func count(_ path: [String], from start: Int) throws -> Scalar {
        if case .scalar(let array) = try target(of: path[...], from: start), array.type.family == .array {
            return Scalar(
                value: .function("cardinality", array.value),
                type: ValueType(.int4),
                mayBeNull: array.mayBeNull,
                label: "\(array.label).@count"
            )
        }
        return try value(.count, of: path, from: start, where: nil)
    }

    /// A value of the members that fulfil a condition, as a subquery.
    mutating func value(_ value: MemberValue) throws -> Scalar {
        let members = value.members
        return try self.value(
            value.content, of: members.members.keys, from: try place(of: members.members), where: members)
    }

    private mutating func value(
        _ content: MemberValue.Content, of path: [String], from start: Int, where condition: MemberCondition?
    ) throws -> Scalar {
        let name = name(of: path, from: start)
        guard case .members(let owner, let relationship, let rest) = try target(of: path[...], from: start),
            rest.isEmpty
        else {
            throw KindredError(
                .invalidCondition,
                "@count must follow a relationship to many objects; \(name) is not one",
                key: name
            )
        }
        // A missing object has a NULL count, not zero.
        let own = try relationship.columns.map { try column($0, of: owner) }.filter { _ in places[owner].isOptional }
        var (place, rows) = try members(of: owner, relationship)
        var value = Scalar(value: .countOfRows, type: ValueType(.int8), mayBeNull: false, label: "\(name).@count")
        if let condition {
            if case .only = content { try requireOneMember(of: relationship, named: name, at: place, where: condition) }
            let shown: ConditionTerm
            (shown, value) = try opening(condition.scope, at: place) { resolver in
                let shown = try resolver.condition(condition.condition).term
                guard let content = try resolver.value(content) else { return (shown, value) }
                return (shown, content)
            }
            rows.condition = rows.condition.and(shown)
        }
        rows.joins = joins[places[place].scope]
        let member = ValueTerm.ofMembers(value.value, rows)
        value.value = own.isEmpty ? member : .guarded(own.map(\.value), member)
        value.mayBeNull = value.mayBeNull || !own.isEmpty
        return value
    }

    /// The value that the subquery selects; nil for the number of members.
    private mutating func value(_ content: MemberValue.Content) throws -> Scalar? {
        // A total of the members is none of a group's.
        let takesAggregates = takesAggregates
        self.takesAggregates = false
        defer { self.takesAggregates = takesAggregates }
        var value: Scalar
        switch content {
        case .count: return nil
        case .total(let total):
            value = aggregate(total, of: try argument(of: total))
        case .only(let expression):
            guard case .scalar(let scalar) = try operand(expression) else {
                throw KindredError(.invalidCondition, "A member's value is one of its columns, or a calculation")
            }
            value = scalar
        }
        value.mayBeNull = true
        return value
    }
}

// Proof that a condition leaves at most one member: its value is a subquery, which the server refuses for several rows.
extension ConditionResolver {
    /// Throws if a condition may leave several members.
    ///
    /// The relationship and equalities of the condition fix columns; a unique key among these columns leaves one row.
    func requireOneMember(
        of relationship: Relationship, named label: String, at place: Int, where condition: MemberCondition
    ) throws {
        let entity = places[place].entity
        var fixed = relationship.helper == nil ? Set(texts: relationship.destinationColumns) : []
        addColumns(fixedBy: condition.condition, of: condition.scope, entity, to: &fixed)
        // Rows of inheriting tables are not among a unique key's.
        let keys = entity.rowTables == nil ? ([entity.primaryKey] + entity.uniqueKeys).filter { !$0.isEmpty } : []
        if keys.contains(where: { fixed.isSuperset(of: Set(texts: $0)) }) { return }
        let known = Set(texts: keys.map { "(\($0.joined(separator: ", ")))" }).sorted().texts
        throw KindredError(
            .invalidRequest,
            """
            The condition on \(label) may leave several members, so that there is no one value: compare the columns of a \
            unique key with ==\(known.isEmpty ? "" : ", such as \(known.joined(separator: " or "))"), or take the \
            smallest or greatest value, by minimum or maximum
            """,
            entity: relationship.source.description, key: relationship.name)
    }

    /// Adds the columns that each row has the same value of, which is not NULL, if the condition holds.
    private func addColumns(
        fixedBy node: ConditionNode, of scope: ColumnScope, _ entity: Entity, to fixed: inout Set<ServerText>
    ) {
        switch node {
        case .all(let parts): for part in parts { addColumns(fixedBy: part, of: scope, entity, to: &fixed) }
        case .comparison(let comparison):
            guard comparison.operation == .equal, comparison.quantifier == nil, !comparison.ignoresCase else { return }
            for (own, other) in [(comparison.left, comparison.right), (comparison.right, comparison.left)] {
                guard case .path(let path) = own, path.scope == scope, path.keys.count == 1 else { continue }
                let columns: [String]
                if let attribute = entity.attribute(named: path.keys[0]) {
                    columns = [attribute.name]
                } else if let relationship = schema.relationship(named: path.keys[0], of: entity),
                    relationship.holdsForeignKey,
                    !relationship.isToMany
                {
                    columns = relationship.columns
                } else {
                    continue
                }
                switch other {
                case .value(_?), .object: fixed.formUnion(Set(texts: columns))
                // Two NULLs are equal in a condition, and not to a key.
                case .path(let outer) where outer.scope != scope:
                    fixed.formUnion(Set(texts: columns.filter { entity.attribute(named: $0)?.isNotNull == true }))
                default: break
                }
            }
        default: break
        }
    }
}
