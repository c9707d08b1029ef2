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

/// A sort key in a statement.
struct ResolvedSortKey: Sendable {
    let value: ValueTerm
    /// The direction after the key, with a leading space.
    let direction: String
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
            var link: [ConditionTerm] = try zip(helper.sourceColumns, order.ownerValues).map { column, value in
                let type = rows?.attribute(named: column).map { ValueType($0) } ?? ValueType(.unspecified)
                let scalar = Scalar(value: .column(row.column(column)), type: type, mayBeNull: false, label: column)
                return .comparison(scalar.value, .equal, try bind(value, as: scalar))
            }
            let member = JoinedRow(alias: 0, entity: entity)
            for (column, referenced) in zip(helper.destinationColumns, order.relationship.destinationColumns) {
                reads.note(referenced, at: 0)
                link.append(.comparison(.column(row.column(column)), .equal, .column(member.column(referenced))))
            }
            let source = RowSource(table: helper.entity, isOnly: rows?.rowTables != nil, alias: row.alias)
            position = .position(
                RowColumn(alias: row.alias, name: order.position, comparedType: nil),
                MemberRows(source: source, link: link))
            // Seen from a member, the helper's rows lead to its owners.
            if let inverse = entity.relationship(named: order.relationship.inverse) {
                let owners = reads.follow(inverse, from: 0)
                for column in helper.sourceColumns + helper.destinationColumns + [order.position] {
                    reads.note(helperColumn: column, at: owners)
                }
            }
        } else {
            position = own(order.position)
        }
        let first = ResolvedSortKey(value: position, direction: " NULLS LAST")
        return [first] + entity.identity.map { ResolvedSortKey(value: own($0), direction: "") }
    }
}
