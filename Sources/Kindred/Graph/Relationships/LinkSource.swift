import KindredPostgres

/// The state of an object from which a relationship is followed, read under one lock.
package struct LinkSource: Sendable {
    let status: ObjectState.Status
    /// Whether the row has to be read again first.
    package let isStale: Bool
    /// The row with staged values.
    package let row: Row
    private let stagingBox: StagingBox?
    /// The loaded relationship, if any.
    package let loaded: LoadedRelationship?
    /// The rows that the object was read with, and its position among them.
    let group: FetchGroup?
    let position: Int
    private let entity: EntityRuntime

    package init(_ object: DatabaseObject, _ relationship: RelationshipRuntime) {
        self = object.withState { LinkSource($0, relationship, of: object.runtime) }
    }

    // `__shared`, because an initializer copies arguments that it owns.
    private init(
        _ state: __shared ObjectState, _ relationship: __shared RelationshipRuntime, of entity: EntityRuntime
    ) {
        self.entity = entity
        status = state.status
        isStale = state.isStale
        row = state.row
        stagingBox = state.stagingBox
        loaded = state.relationships[relationship.slot]
        group = state.group
        position = Int(state.position)
    }

    package var staging: Staging? { stagingBox?.staging }

    /// The row in the database.
    var storedRow: Row { stagingBox?.staging.stored ?? row }

    /// The key of the row, or of a new object.
    var key: ObjectKey? { entity.identity(of: storedRow, stagingBox?.staging.temporaryKey) }
}
