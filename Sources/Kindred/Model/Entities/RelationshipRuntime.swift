import KindredPostgres
package import KindredSchema

/// A relationship with its names resolved to positions, so that following it costs no look-up by name.
package final class RelationshipRuntime: Sendable {
    /// How the two ends find each other.
    package enum Link: Sendable {
        /// The source row holds the foreign key: `columns` of the source reference `referenced` of the destination.
        case foreignKey(columns: [Int], referenced: [Int])
        /// The destination row holds the foreign key: its `columns` reference `referenced` of the source.
        case referenced(referenced: [Int], columns: [Int])
        /// A helper row references both ends.
        case helper(HelperLink)
    }

    /// The helper table's two foreign keys, position by position.
    package struct HelperLink: Sendable {
        package let entity: Int
        /// Helper columns that reference the source, and the source's columns.
        package let sourceColumns: [Int]
        package let source: [Int]
        /// Helper columns that reference the destination, and the destination's columns.
        package let destinationColumns: [Int]
        package let destination: [Int]
        /// The helper columns that make a pair unique, in helper order, without repetition.
        package let pairColumns: [Int]
        /// Helper columns that hold positions, for either end that is ordered, and the columns of whose members they order.
        package let positions: [(column: Int, ownerColumns: [Int])]
    }

    package let model: Relationship
    /// Position among the source entity's relationships: where a loaded value is kept.
    package let slot: Int
    package let source: Int
    package let destination: Int
    /// Position of the inverse among the destination's relationships.
    package let inverseSlot: Int
    package let link: Link
    package let isToMany: Bool
    /// Whether the source's rows hold the foreign key.
    let holdsForeignKey: Bool
    /// The column that orders the members: of the destination, or of the helper; nil where they have no order.
    package let position: Int?
    /// The source's columns that the other end is found by.
    let ownColumns: [Int]
    /// Whether the server alone can tell whose rows are whose: texts that ignore case or trailing spaces, intervals, keys
    /// of another type.
    let isComparedByServer: Bool

    init(
        model: Relationship, slot: Int, source: Int, destination: Int, inverseSlot: Int, link: Link, position: Int?,
        isComparedByServer: Bool
    ) {
        self.isComparedByServer = isComparedByServer
        self.model = model
        self.slot = slot
        self.source = source
        self.destination = destination
        self.inverseSlot = inverseSlot
        self.link = link
        self.position = position
        isToMany = model.isToMany
        switch link {
        case .foreignKey(let columns, _): (ownColumns, holdsForeignKey) = (columns, true)
        case .referenced(let referenced, _): (ownColumns, holdsForeignKey) = (referenced, false)
        case .helper(let helper): (ownColumns, holdsForeignKey) = (helper.source, false)
        }
    }
}
