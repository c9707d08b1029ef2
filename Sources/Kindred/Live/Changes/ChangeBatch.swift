import KindredSchema

/// The changes of whole transactions between two cursors, as one snapshot of the database shows them.
struct ChangeBatch: Sendable {
    /// The place behind the batch.
    let cursor: ChangeCursor
    /// The changes by table: of a partition by its root, of a table that inherits also by its parents.
    let changes: [QualifiedName: TableChanges]
}

/// What a batch says of one table: each key once, the net effect on its row.
struct TableChanges: Sendable {
    /// Keys of rows that were not there before and are there now.
    var inserted: Set<ObjectKey> = []
    /// Keys of rows that were there before and are there now, with the columns that statements set; nil if these are unknown.
    var updated: [ObjectKey: Set<String>?] = [:]
    /// Keys of rows that were there before and are gone.
    var deleted: Set<ObjectKey> = []
    /// Why rows have changed that the batch does not name; nil if it names all.
    var gap: ChangeGap?
}

/// Why changes are not named row by row.
public enum ChangeGap: String, Sendable, Hashable, Codable {
    /// A statement changed more rows than are recorded one by one, or the table was truncated.
    case bulk
    /// The table itself was changed, dropped or made anew.
    case schemaChanged
    /// Records were missing: a trigger was disabled or missing, or nobody had read for longer than the retention.
    case unrecorded
    /// The table has no key, or a policy hides keys from the role.
    case unnamed
    /// The consumer was too slow.
    case overflow
    /// The cursor is older than the records that are kept.
    case expired
    /// The cursor is of another server, database, timeline or installation, or of the future.
    case foreignCursor
}
