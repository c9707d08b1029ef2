import KindredPostgres
import KindredSchema

extension ConditionRenderer {
    /// The target of a key path.
    enum Target {
        case scalar(Scalar)
        /// A row: the object itself, or the object at a to-one path.
        case row(Int)
        /// The members of a row's to-many relationship, and the remaining keys.
        case members(of: Int, Relationship, rest: ArraySlice<String>)
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
        reads.note(path: label)
        var place = Place(
            entity: try destination(of: relationship),
            scope: places[parent].scope,
            label: label,
            link: Place.Link(parent: parent, relationship: relationship)
        )
        if relationship.holdsForeignKey && !relationship.mayDangle {
            for (column, referenced) in zip(relationship.columns, relationship.destinationColumns) {
                place.known[referenced] = try self.column(column, of: parent)
                place.known[referenced]?.label = "\(place.label).\(referenced)"
            }
            for referenced in relationship.destinationColumns {
                let others = relationship.destinationColumns.filter { $0 != referenced }
                    .compactMap { place.known[$0] }.filter(\.mayBeNull)
                if !others.isEmpty {
                    place.guards[referenced] = others.map { "\($0.sql) IS NOT NULL" }.joined(separator: " AND ")
                }
            }
        }
        places.append(place)
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

    func label(_ key: String, of place: Int) -> String {
        places[place].label == "SELF" ? key : "\(places[place].label).\(key)"
    }

    /// A column of a row, joined if necessary.
    mutating func column(_ name: String, of place: Int, _ attribute: Attribute? = nil) throws -> Scalar {
        if !places[place].known.isEmpty, var known = places[place].known[name] {
            if let others = places[place].guards[name] {
                known.sql = "CASE WHEN \(others) THEN \(known.sql) END"
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
        reads.note(name, of: places[place].entity.name)
        return Scalar(
            sql: try compared(name, alias, of: places[place].entity),
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
            ? columns.compactMap { places[place].known[$0]?.sql }
            : try link.relationship.columns.map { try column($0, of: link.parent).sql }
        let alias = newAlias()
        let entity = places[place].entity
        for column in columns { reads.note(column, of: entity.name) }
        let table = try isReferenced(place) ? ownTable(entity) : table(entity.name)
        let isOwn = isReferenced(place) ? "" : try ofOwnTable(link.parent)
        let condition = try pairs(values, columns, alias, of: entity) + isOwn
        if link.relationship.mayRepeat && !isMember {
            // Several rows may have the key for a while, and must not repeat the joining row.
            let hidden = entity.rowTables == nil ? "" : ", t\(alias).\(try SQLIdentifier.quote(Attribute.table.name))"
            let one = "(SELECT *\(hidden) FROM \(table) AS t\(alias) WHERE \(condition) LIMIT 1)"
            joins[places[place].scope] += " LEFT JOIN LATERAL \(one) AS t\(alias) ON TRUE"
        } else {
            joins[places[place].scope] += "\(isMember ? "" : " LEFT") JOIN \(table) AS t\(alias) ON \(condition)"
        }
        places[place].alias = alias
        return alias
    }

    /// The equality of columns and values, such as `t1."a" = x AND t1."b" = y`.
    func pairs(_ values: [String], _ columns: [String], _ alias: Int, of entity: Entity?) throws -> String {
        try zip(values, columns).map { "\(try compared($1, alias, of: entity)) = \($0)" }.joined(separator: " AND ")
    }

    /// A column of a table in a comparison.
    func compared(_ column: String, _ alias: Int, of entity: Entity?) throws -> String {
        let sql = "t\(alias).\(try SQLIdentifier.quote(column))"
        return entity?.attribute(named: column)?.compared(sql) ?? sql
    }
}

/// An entity's row in a statement: the request's own row, the row at a to-one path, or a member of a to-many
/// relationship.
///
/// A row is joined only if a column is needed that its neighbour does not have as well.
struct Place {
    /// The link to a row: from a to-one relationship of another place, or from the helper table of a to-many one.
    struct Link {
        let parent: Int
        let relationship: Relationship
    }

    let entity: Entity
    /// The FROM clause to which joins are added.
    let scope: Int
    /// The number of the row's alias, once it is joined.
    var alias: Int?
    /// Columns that need no join: the foreign key's, under the names of the referenced columns.
    var known: [String: Scalar] = [:]
    /// Further conditions of columns without a join, because a composite key with a NULL references no row.
    var guards: [String: String] = [:]
    /// The path from the scope's row, for error messages.
    let label: String
    /// nil for the first row of a FROM clause.
    var link: Link?
    /// The places at the next keys of paths.
    var children: [String: Int] = [:]

    /// Whether there may be no row, so that every column of it is NULL.
    var isOptional: Bool { link.map { $0.relationship.helper == nil } ?? false }
}
