import KindredPostgres

/// Foreign keys that hold for single partitions only, and compare the same columns of the same tables.
///
/// They make no relationship, because other partitions' rows may refer to nothing. Deletions take them into account.
package struct PartitionKey: Sendable, Hashable {
    /// The constraints, sorted by table and name.
    package let constraints: [Constraint]
    /// The entity that holds the key in its rows, or in the rows of some of its partitions.
    package let source: QualifiedName
    package let columns: [String]
    /// The entity whose rows are referenced, or the rows of some of its partitions.
    package let destination: QualifiedName
    /// One for each of `columns`.
    package let destinationColumns: [String]

    /// One constraint, and where it holds.
    package struct Constraint: Sendable, Hashable {
        package let name: String
        /// The table that holds the key: a partition, unless the key refers to one.
        package let table: QualifiedName
        package let tableOID: UInt32
        /// The table that it refers to.
        package let targetOID: UInt32
        /// The database's action on the rows when the referenced row is deleted.
        package let action: DatabaseAction
        /// The database's action on the rows when the referenced row gets other values.
        package let updateAction: DatabaseAction
    }
}
