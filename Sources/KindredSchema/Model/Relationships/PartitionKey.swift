/// Foreign keys that hold for single partitions only, and compare the same columns of the same tables.
///
/// They make no relationship, since the other partitions' rows may lead nowhere. A deletion still has to reckon with them.
package struct PartitionKey: Sendable, Hashable {
    /// The constraints, sorted by table and name.
    package let constraints: [Constraint]
    /// The entity whose rows hold the key, all of them or those of some partitions.
    package let source: QualifiedName
    package let columns: [String]
    /// The entity whose rows are referred to, all of them or those of some partitions.
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
        /// What the database does to the rows when the row that they refer to is deleted.
        package let action: DatabaseAction
    }
}
