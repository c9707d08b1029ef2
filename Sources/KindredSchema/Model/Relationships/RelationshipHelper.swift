/// The table between the two ends of a many-to-many relationship, seen from the source.
public struct RelationshipHelper: Sendable, Hashable {
    /// The helper table.
    public let entity: QualifiedName
    /// The helper's foreign key to the source.
    public let sourceForeignKey: String
    /// The helper's foreign key to the destination.
    public let destinationForeignKey: String
    /// The helper's columns that refer to the relationship's `columns`, in their order.
    public let sourceColumns: [String]
    /// The helper's columns that refer to the relationship's `destinationColumns`, in their order.
    public let destinationColumns: [String]
    /// Columns outside both keys that a new row needs a value for: NOT NULL, without a default, not generated.
    public let requiredPayload: [String]
    /// Columns outside both keys and the helper's primary key that nothing fills by itself: no default, not generated.
    ///
    /// A column that orders the relationship is not among them. Where there are any, deleting an object leaves the
    /// helper's rows to the foreign key, so that no order line goes with its product unless the database says so.
    public let payload: [String]
}
