/// A sort key in a statement.
struct ResolvedSortKey: Sendable {
    let value: ValueTerm
    /// The direction after the key, with a leading space.
    let direction: String
}
