import KindredPostgres

/// The references of an object's row: as stored, as shown, and by links to new objects.
///
/// Made twice for each change of an object: it holds only the row and the staged changes, and computes the references
/// from them.
struct RowLinks: Sendable {
    let shown: Row
    private let stagingBox: StagingBox?
    /// Whether `stored` is a row of the database.
    let isStored: Bool

    /// The references of a stored row without staged changes.
    init(_ row: Row) {
        (shown, stagingBox, isStored) = (row, nil, true)
    }

    init(_ state: ObjectState) {
        (shown, stagingBox, isStored) = (state.row, state.stagingBox, state.status == .persistent)
    }

    /// The references of a new object when its statement was made.
    init(before saved: SavedObject) {
        (shown, stagingBox, isStored) = (saved.row, saved.stagingBox, false)
    }

    var stored: Row { stagingBox?.staging.stored ?? shown }
    /// Whether `stored` and `shown` are the same row.
    var isShownAsStored: Bool { stagingBox == nil }

    var destinations: [Int: DatabaseObject] { stagingBox?.staging.destinations ?? [:] }
}

/// A relationship of an owner.
struct OwnerEnd {
    let owner: DatabaseObject
    let relationship: RelationshipRuntime
}

extension EntityRuntime {
    /// Whether the key of a helper's row tells which rows it pairs.
    var namesPairs: Bool { helperEnds.allSatisfy { $0.linkColumns.allSatisfy(key.contains) } }
}
