/// The condition of an entity's rows that are shown, parsed.
package struct EntityFilter: Sendable {
    /// The condition, as the layer above has parsed it.
    package let condition: any Sendable
    /// The columns that it reads.
    package let columns: [String]
    /// The terms that every shown row satisfies, and no other; nil if only the server can evaluate the condition.
    package let terms: [RowPredicate.Term]?

    package init(_ condition: any Sendable, columns: [String], terms: [RowPredicate.Term]?) {
        self.condition = condition
        self.columns = columns
        self.terms = terms
    }
}
