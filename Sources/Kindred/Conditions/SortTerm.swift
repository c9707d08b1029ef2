import KindredPostgres
import KindredSchema

/// One sort key: an attribute, or a path over to-one relationships to one.
package struct SortTerm: Sendable, Hashable {
    /// The position of NULL in the order.
    package enum Nulls: Sendable, Hashable {
        /// PostgreSQL's rule: last when ascending, first when descending.
        case standard
        /// Before all values.
        case first
        /// After all values.
        case last
    }

    /// The path's keys, the attribute last.
    package var path: [String]
    /// Whether small values come first.
    package var ascending: Bool
    /// The position of NULL.
    package var nulls: Nulls

    package init(path: [String], ascending: Bool = true, nulls: Nulls = .standard) {
        self.path = path
        self.ascending = ascending
        self.nulls = nulls
    }
}

/// The order of an ordered relationship's members, used by a request without its own order.
package struct MemberOrder: Sendable {
    /// The to-many relationship, with the column that orders its members.
    let relationship: Relationship
    let position: String
    /// The values by which the helper's rows reference the owner; empty if the members hold the position themselves.
    let ownerValues: [PostgresValue]

    /// Whether the members' own rows hold the position.
    var isOwn: Bool { relationship.helper == nil }
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
