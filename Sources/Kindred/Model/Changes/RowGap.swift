/// Unknown rows that have changed: a writer tells a gap where it cannot tell each ``RowChange``.
struct RowGap: Sendable {
    enum Rows: Sendable {
        /// Some rows, in any column, and some may be gone.
        case some
        /// Some rows are gone.
        case deleted
        /// Everything that is known of the entity may have changed.
        case everything
        /// Some rows have come to the owner of a relationship with the given key, or left it; nil for any owner.
        case members(RelationshipRuntime, of: ObjectKey?)
        /// The entity's filter shows rows that it hid before, or hides rows that it showed.
        case shown
        /// Some rows that nothing but parts of relationships has read.
        case ofParts
    }

    let entity: EntityRuntime
    let rows: Rows

    init(_ rows: Rows, of entity: EntityRuntime) {
        (self.entity, self.rows) = (entity, rows)
    }

    /// Members of an owner; nil for any owner.
    init(membersIn relationship: RelationshipRuntime, of owner: ObjectKey?) {
        self.init(.members(relationship, of: owner), of: relationship.linkRows)
    }
}
