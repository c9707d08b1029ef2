import KindredPostgres
import KindredSchema

/// The position of NULL in an order.
public enum NullOrder: Sendable, Hashable {
    /// PostgreSQL's rule: last when ascending, first when descending.
    case standard
    /// Before all values.
    case first
    /// After all values.
    case last
}

/// One sort key: an attribute, a path over to-one relationships to one, or the first of several that is not NULL.
package struct SortTerm: Sendable, Hashable {
    /// The path's keys, the attribute last; none for a key with alternatives.
    package var path: [String]
    /// The alternative values; the first that is not NULL counts; none for a path alone.
    package var alternatives: [Alternative] = []
    /// Whether small values come first.
    package var ascending: Bool
    /// The position of NULL.
    package var nulls: NullOrder

    package init(path: [String], ascending: Bool = true, nulls: NullOrder = .standard) {
        self.path = path
        self.ascending = ascending
        self.nulls = nulls
    }

    package init(_ alternatives: [Alternative], ascending: Bool = true, nulls: NullOrder = .standard) {
        self.init(path: [], ascending: ascending, nulls: nulls)
        self.alternatives = alternatives
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
