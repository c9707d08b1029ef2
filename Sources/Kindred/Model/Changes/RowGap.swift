/// Unknown rows that have changed: a writer tells a gap where it cannot tell each ``RowChange``.
package struct RowGap: Sendable {
    package enum Rows: Sendable {
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
        /// A row has come to the owners that it names, or was there before; the owners that it left are not known.
        case moved(ObjectKey, Row)
        /// Some rows that nothing but parts of relationships has read.
        case ofParts
        /// The members and ends of all relationships of a row.
        case relationships(of: ObjectKey)
    }

    let entity: EntityRuntime
    let rows: Rows

    package init(_ rows: Rows, of entity: EntityRuntime) {
        (self.entity, self.rows) = (entity, rows)
    }

    var isMove: Bool {
        if case .moved = rows { true } else { false }
    }

    /// Members of an owner; nil for any owner.
    package init(membersIn relationship: RelationshipRuntime, of owner: ObjectKey?) {
        self.init(.members(relationship, of: owner), of: relationship.linkRows)
    }
}
