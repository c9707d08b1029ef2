import KindredPostgres

/// A row that came, changed, or went, as a statement or another client's transaction says.
///
/// It has no time and no scope: those belong to the entry of the log that keeps it.
struct RowChange: Sendable {
    let entity: EntityRuntime
    /// The row's key; nil if it has none.
    let key: ObjectKey?
    /// The key that the row had before, if the change gave it another.
    let formerKey: ObjectKey?
    /// The row before; nil for a row that came.
    let before: Row?
    /// The row afterwards; nil for a row that went.
    let after: Row?

    init(
        of entity: EntityRuntime, key: ObjectKey? = nil, formerKey: ObjectKey? = nil, from before: Row?, to after: Row?
    ) {
        (self.entity, self.key, self.formerKey, self.before, self.after) = (entity, key, formerKey, before, after)
    }
}
