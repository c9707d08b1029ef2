import KindredPostgres

/// What following a relationship has to know of the object that it begins at, read under one lock.
struct LinkSource: Sendable {
    let status: ObjectState.Status
    /// The row with staged values.
    let row: Row
    let staging: Staging?
    /// What the object has loaded of the relationship.
    let loaded: LoadedRelationship?
    /// The rows that the object was read with, and its place among them.
    let group: LoadGroup?
    let position: Int
    /// The context's clock when the relationship was last changed.
    let linksChangedAt: UInt64

    init(_ state: ObjectState, _ slot: Int) {
        status = state.status
        row = state.row
        staging = state.staging
        loaded = state.relationships[slot]
        group = state.group
        position = Int(state.position)
        linksChangedAt = state.relationships.changedAt(slot)
    }

    /// The row as the database has it.
    var storedRow: Row { staging?.stored ?? row }
}
