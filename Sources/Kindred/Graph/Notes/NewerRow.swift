import KindredPostgres

/// A row newer than in loaded relationships, and the time of its change.
struct NewerRow: Sendable {
    let row: Row
    let changedAt: ContextTime
}

/// The newer row that a changed object leaves behind when it leaves memory.
struct ReleasedRow: Sendable {
    let entity: EntityRuntime
    let row: Row
    /// The time since when the row may be newer than in loaded relationships.
    let changedAt: ContextTime
}
