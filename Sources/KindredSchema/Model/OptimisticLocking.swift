import KindredPostgres

/// How a write notices that somebody else has changed a row since it was read.
///
/// ```sql
/// COMMENT ON COLUMN book.version IS '@kindred {"version": true}';
/// COMMENT ON TABLE store IS '@kindred {"optimisticLocking": "xmin"}';
/// ```
public enum OptimisticLocking: Sendable, Hashable {
    /// By a column that every write counts up by one, or, if it is a timestamp, sets to the time of the write.
    case column(String)
    /// By the system column `xmin`, which is read with each row: it needs no column, and notices the writes of all
    /// clients, but its numbers are not kept by a dump and come round again after four billion transactions.
    case xmin
}

extension Attribute {
    /// Whether the attribute is a system column, read with each row for the library's own use: it has no property, and is
    /// not listed.
    public var isHidden: Bool { number < 0 }

    /// The system column that tells a row's versions apart.
    static let xmin = Attribute(
        name: "xmin", number: -2, typeName: "xid", type: .xid, isNotNull: true, hasDefault: true, isGenerated: true)
}
