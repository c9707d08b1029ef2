import KindredPostgres
import KindredSchema

/// The order of an ordered relationship's members, which a request for them has unless it is given another.
package struct MemberOrder: Sendable {
    /// The to-many relationship, with the column that orders its members.
    let relationship: Relationship
    let position: String
    /// By what rows of the helper table refer to the owner; empty where the members hold the position themselves.
    let ownerValues: [PostgresValue]

    /// Whether the members' own rows hold the position.
    var isOwn: Bool { relationship.helper == nil }
}

extension ConditionRenderer {
    /// ` ORDER BY` the position among an owner's members and then the key, as loaded members stand.
    mutating func order(_ order: MemberOrder) throws -> String {
        let entity = places[0].entity
        var position = "t0.\(try SQLIdentifier.quote(order.position))"
        if let helper = order.relationship.helper {
            let alias = newAlias()
            let rows = schema[helper.entity]
            var conditions = try zip(helper.sourceColumns, order.ownerValues).map { column, value in
                let type = rows?.attribute(named: column).map { ValueType($0) } ?? ValueType(.unspecified)
                let scalar = Scalar(sql: "", type: type, mayBeNull: false, label: column)
                return "t\(alias).\(try SQLIdentifier.quote(column)) = \(try bind(value, as: scalar))"
            }
            for (column, referenced) in zip(helper.destinationColumns, order.relationship.destinationColumns) {
                conditions.append(
                    "t\(alias).\(try SQLIdentifier.quote(column)) = t0.\(try SQLIdentifier.quote(referenced))")
            }
            position = """
                (SELECT min(t\(alias).\(try SQLIdentifier.quote(order.position))) FROM \(try table(helper.entity)) \
                AS t\(alias) WHERE \(conditions.joined(separator: " AND ")))
                """
        }
        let keys = try entity.primaryKey.map { "t0.\(try SQLIdentifier.quote($0))" }
        return " ORDER BY \((["\(position) NULLS LAST"] + keys).joined(separator: ", "))"
    }
}
