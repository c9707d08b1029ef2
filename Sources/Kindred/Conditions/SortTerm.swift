/// One key of an order: an attribute, or a path over to-one relationships that ends in one.
package struct SortTerm: Sendable, Hashable {
    /// Where NULL stands in the order.
    package enum Nulls: Sendable, Hashable {
        /// PostgreSQL's own rule: last when ascending, first when descending.
        case standard
        /// Before everything else.
        case first
        /// After everything else.
        case last
    }

    /// The path's keys, the attribute last.
    package var path: [String]
    /// Whether small values come first.
    package var ascending: Bool
    /// Where NULL stands.
    package var nulls: Nulls

    package init(path: [String], ascending: Bool = true, nulls: Nulls = .standard) {
        self.path = path
        self.ascending = ascending
        self.nulls = nulls
    }
}
