import KindredPostgres
import KindredSchema

extension ConditionResolver {
    /// The target of a key path.
    enum Target {
        case scalar(Scalar)
        /// A row: the object itself, or the object at a to-one path.
        case row(Int)
        /// The members of a row's to-many relationship, and the remaining keys.
        case members(of: Int, Relationship, rest: ArraySlice<String>)
    }

    /// Follows a path from the object of its scope.
    mutating func target(of path: ConditionPath) throws -> Target {
        try target(of: path.keys[...], from: try place(of: path))
    }

    /// Follows a path to a value or row, or to its first to-many relationship.
    mutating func target(of path: ArraySlice<String>, from start: Int) throws -> Target {
        var place = start
        var rest = path
        while let key = rest.popFirst() {
            let entity = places[place].entity
            if let attribute = entity.attribute(named: key) {
                if !rest.isEmpty, attribute.baseType == .json || attribute.baseType == .jsonb {
                    let document = try column(attribute.name, of: place, attribute)
                    return .scalar(try text(at: Array(rest), of: .scalar(document)))
                }
                if let next = rest.first {
                    throw KindredError(
                        .unknownKey,
                        "\(entity.name).\(key) is an attribute and has no key \"\(next)\"",
                        entity: entity.name.description,
                        key: next
                    )
                }
                return .scalar(try column(attribute.name, of: place, attribute))
            }
            guard let relationship = schema.relationship(named: key, of: entity) else {
                if key == PairLink.key, place == 0 {
                    place = try pairedRow()
                    continue
                }
                let error = entity.unknownKey(key)
                // A word that resembles no key may be a text without its quotes.
                let advice = error.suggestions.isEmpty ? "; a text is written in quotes, or given for %@" : ""
                throw KindredError(
                    .unknownKey,
                    error.message + advice,
                    entity: entity.name.description,
                    key: key
                )
            }
            if relationship.isToMany { return .members(of: place, relationship, rest: rest) }
            place = try row(relationship, of: place)
        }
        return .row(place)
    }

    /// The place at the other end of a to-one relationship.
    private mutating func row(_ relationship: Relationship, of parent: Int) throws -> Int {
        if let place = places[parent].children[relationship.name] { return place }
        let label = label(relationship.name, of: parent)
        let destination = try destination(of: relationship)
        var place = Place(
            entity: destination,
            scope: places[parent].scope,
            read: reads.follow(relationship, from: places[parent].read),
            label: label,
            link: Place.Link(parent: parent, relationship: relationship)
        )
        // The row may be missing, or hidden from the role, though the foreign key has a value; and a key that is compared otherwise
        // than its columns' types has not the value of the referenced one.
        if relationship.holdsForeignKey && !relationship.mayDangle && relationship.comparisons.isEmpty
            && !schema.hidesRows(of: destination)
        {
            for (column, referenced) in zip(relationship.columns, relationship.destinationColumns) {
                place.known[referenced] = try self.column(column, of: parent)
                place.known[referenced]?.label = "\(place.label).\(referenced)"
            }
            for referenced in relationship.destinationColumns {
                let others = relationship.destinationColumns.filter { $0 != referenced }
                    .compactMap { place.known[$0] }.filter(\.mayBeNull)
                if !others.isEmpty { place.guards[referenced] = others.map(\.value) }
            }
        }
        try append(place)
        places[parent].children[relationship.name] = places.count - 1
        return places.count - 1
    }

    func destination(of relationship: Relationship) throws -> Entity {
        if let entity = schema[relationship.destination] { return entity }
        throw KindredError(
            .unknownEntity,
            "\(relationship.source).\(relationship.name) leads to \(relationship.destination), which is not an entity",
            entity: relationship.destination.description
        )
    }

    /// A path in words for messages, with the names of relationships.
    func name(of path: [String], from start: Int = 0) -> String {
        schema.named(path, from: places[start].entity).joined(separator: ".")
    }

    func label(_ key: String, of place: Int) -> String {
        places[place].label == "SELF" ? key : "\(places[place].label).\(key)"
    }

    /// A column of a row, joined if necessary.
    mutating func column(_ name: String, of place: Int, _ attribute: Attribute? = nil) throws -> Scalar {
        if !places[place].known.isEmpty, var known = places[place].known[name] {
            if let others = places[place].guards[name] {
                known.value = .guarded(others, known.value)
                known.mayBeNull = true
            }
            return known
        }
        return try joinedColumn(name, of: place, attribute)
    }

    /// A key column for comparisons with objects: all key columns are compared, so that none needs a guard.
    mutating func keyColumn(_ name: String, of place: Int) throws -> Scalar {
        try places[place].known[name] ?? joinedColumn(name, of: place, nil)
    }

    private mutating func joinedColumn(_ name: String, of place: Int, _ attribute: Attribute?) throws -> Scalar {
        let alias = try joined(place)
        let attribute = attribute ?? places[place].entity.attribute(named: name)
        if places[place].isPair {
            reads.note(helperColumn: name, at: places[place].read)
        } else {
            reads.note(name, at: places[place].read)
        }
        return Scalar(
            value: .column(RowColumn(alias: alias, name: name, comparedType: attribute?.comparedType)),
            type: attribute.map { ValueType($0) } ?? ValueType(.unspecified),
            mayBeNull: places[place].isOptional || attribute?.isNotNull != true,
            label: label(name, of: place)
        )
    }

    /// The alias of a row, after joining it.
    mutating func joined(_ place: Int) throws -> Int {
        if let alias = places[place].alias { return alias }
        guard let link = places[place].link else { return 0 }
        let columns = link.relationship.destinationColumns
        let isMember = link.relationship.helper != nil
        let values =
            isMember
            ? columns.compactMap { places[place].known[$0]?.value }
            : try link.relationship.columns.map { try column($0, of: link.parent).value }
        let alias = newAlias()
        let entity = places[place].entity
        for column in columns { reads.note(column, at: places[place].read) }
        let row = JoinedRow(alias: alias, entity: entity)
        let source = RowSource(
            entity.name, entity, alias: alias, scope: linkedScope(row, isReferenced(place) ? .own : .all))
        let isOwn = isReferenced(place) ? [] : try ofOwnTable(link.parent)
        // Several rows may have the key for a while, and must not repeat the joining row.
        let isOne = link.relationship.mayRepeat && !isMember
        joins[places[place].scope].append(
            RowJoin(
                kind: isMember ? .inner : isOne ? .one : .left, source: source,
                hidden: isOne && entity.rowTables != nil ? Attribute.table.name : nil,
                condition: row.equals(columns, values, by: link.relationship.joining, isReferenced: isReferenced(place))
                    + isOwn))
        places[place].alias = alias
        return alias
    }

    /// A row by its alias.
    struct JoinedRow {
        let alias: Int
        /// The entity; nil for rows of a table that is no entity.
        let entity: Entity?

        /// A column in a comparison.
        func column(_ name: String) -> RowColumn {
            RowColumn(alias: alias, name: name, comparedType: entity?.attribute(named: name)?.comparedType)
        }

        /// Whether a column equals a value, as a foreign key compares them.
        ///
        /// - Parameters:
        ///   - comparison: the key's; nil for the equality of the column's type.
        ///   - isReferenced: whether the key refers to the column, and has the value.
        func equals(
            _ name: String, _ value: ValueTerm, by comparison: KeyComparison?, isReferenced: Bool = false
        ) -> ConditionTerm {
            let own = ValueTerm.column(column(name))
            if let comparison {
                return .foreign(
                    comparison, referenced: isReferenced ? own : value, holder: isReferenced ? value : own)
            }
            let type = entity?.attribute(named: name).map { ValueType($0) } ?? ValueType(.unspecified)
            return .comparison(own, type.comparison(.equal), value)
        }

        /// The equality of columns and values, such as `t1."a" = x AND t1."b" = y`, as a foreign key compares them.
        func equals(
            _ columns: [String], _ values: [ValueTerm], by comparisons: [KeyComparison?], isReferenced: Bool
        ) -> [ConditionTerm] {
            zip(columns, values).enumerated().map { place, pair in
                equals(pair.0, pair.1, by: comparisons.at(place), isReferenced: isReferenced)
            }
        }

        /// The equality of a helper's columns with the columns of a member that they refer to.
        func refers(
            _ columns: [String], to member: JoinedRow, _ referenced: [String], by comparisons: [KeyComparison?]
        ) -> [ConditionTerm] {
            equals(columns, referenced.map { .column(member.column($0)) }, by: comparisons, isReferenced: false)
        }
    }
}

extension Relationship {
    /// The comparisons of its destination's columns with the columns joined to them: its own, or the helper's.
    fileprivate var joining: [KeyComparison?] { helper?.destinationComparisons ?? comparisons }
}
