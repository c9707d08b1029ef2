import KindredPostgres

/// The state of an object from which a relationship is followed, read under one lock.
struct LinkSource: Sendable {
    let status: ObjectState.Status
    /// Whether the row has to be read again first.
    let isStale: Bool
    /// The row with staged values.
    let row: Row
    let staging: Staging?
    /// The loaded relationship, if any.
    let loaded: LoadedRelationship?
    /// The rows that the object was read with, and its position among them.
    let group: FetchGroup?
    let position: Int

    /// The key of the row, or of a new object.
    let key: ObjectKey?

    init(_ object: DatabaseObject, _ relationship: RelationshipRuntime) {
        self = object.withState { LinkSource($0, relationship, of: object.runtime) }
    }

    private init(_ state: ObjectState, _ relationship: RelationshipRuntime, of entity: EntityRuntime) {
        key = state.key(entity)
        status = state.status
        isStale = state.isStale
        row = state.row
        staging = state.staging
        loaded = state.relationships[relationship.slot]
        group = state.group
        position = Int(state.position)
    }

    /// The row in the database.
    var storedRow: Row { staging?.stored ?? row }
}
