import KindredPostgres

/// How a write detects that another writer has changed the row since it was read.
///
/// ```sql
/// COMMENT ON COLUMN book.version IS '@kindred {"version": true}';
/// COMMENT ON TABLE store IS '@kindred {"optimisticLocking": "xmin"}';
/// ```
public enum OptimisticLocking: Sendable, Hashable {
    /// A column that every write increments or, if it is a timestamp, sets to the time of the write.
    case column(String)
    /// The system column `xmin`, read with each row: it needs no column and detects the writes of all clients, but its
    /// numbers are lost in a dump and wrap around after four billion transactions.
    case xmin
}

extension Attribute {
    /// Whether the attribute is a system column, read for the library's own use: it has no property, and is not listed.
    public var isHidden: Bool { number < 0 }

    /// The system column that identifies a row's version.
    package static let xmin = Attribute(
        name: "xmin", number: -2, typeName: "xid", type: .xid, isNotNull: true, hasDefault: true, isGenerated: true)
}
