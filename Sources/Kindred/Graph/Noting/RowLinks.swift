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

/// A pair of a many-to-many relationship that came or went: a change of a row of the helper, named by its ends.
///
/// Not a ``RowChange``: to make the helper's row for each pair would cost more than to note it.
struct PairChange {
    enum Member {
        case object(DatabaseObject)
        /// A member without an object: the helper's row leads to it.
        case row(Row)
    }

    let relationship: RelationshipRuntime
    let link: RelationshipRuntime.HelperLink
    let owner: DatabaseObject
    let member: Member
    let isPaired: Bool
}

/// A relationship of an owner.
struct OwnerEnd {
    let owner: DatabaseObject
    let relationship: RelationshipRuntime
}

/// New objects with the rows that they were stored with, in the same order.
struct StoredObjects {
    let entity: EntityRuntime
    let objects: ArraySlice<SavedObject>
    let rows: [Row]
    let keys: [ObjectKey]
    /// Their temporary keys and references; nil if they are as they were saved.
    let before: [(key: ObjectKey?, links: RowLinks)]?
    /// Objects rolled back while they were being stored: their rows exist, and get new objects when read.
    let givenUp: Set<DatabaseObject>
}

extension EntityRuntime {
    /// Whether the key of a helper's row tells which rows it pairs.
    var namesPairs: Bool { helperEnds.allSatisfy { $0.linkColumns.allSatisfy(key.contains) } }
}
