import KindredPostgres
package import KindredSchema

/// A relationship with names resolved to positions, so that following it needs no look-up by name.
package final class RelationshipRuntime: Sendable {
    /// The keys that connect the two ends.
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
        /// Helper columns that hold positions, for each ordered end, with the columns of the owner whose members they
        /// order.
        package let positions: [(column: Int, ownerColumns: [Int])]
    }

    package let model: Relationship
    /// Position among the source entity's relationships, under which a loaded value is kept.
    package let slot: Int
    package let source: Int
    package let destination: Int
    /// Position of the inverse among the destination's relationships.
    package let inverseSlot: Int
    package let link: Link
    package let isToMany: Bool
    /// Whether the source's rows hold the foreign key.
    let holdsForeignKey: Bool
    /// The column that orders the members, of the destination or the helper; nil without an order.
    package let position: Int?
    /// The source's columns by which the other end is found.
    let ownColumns: [Int]
    /// The table of the source whose rows the other end refers to, if rows of other tables are among the source's.
    private let ownTable: RowTable?
    /// Whether only the server can compare the keys: texts that ignore case or trailing spaces, intervals, keys of
    /// different types.
    let isComparedByServer: Bool

    init(
        model: Relationship, slot: Int, source: Int, destination: Int, inverseSlot: Int, link: Link, position: Int?,
        ownTable: RowTable? = nil, isComparedByServer: Bool
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
        self.ownTable = model.holdsForeignKey ? nil : ownTable
        switch link {
        case .foreignKey(let columns, _): (ownColumns, holdsForeignKey) = (columns, true)
        case .referenced(let referenced, _): (ownColumns, holdsForeignKey) = (referenced, false)
        case .helper(let helper): (ownColumns, holdsForeignKey) = (helper.source, false)
        }
    }

    /// The key by which the other end of the relationship is found from a row of the source; nil if it has a NULL, or if foreign
    /// keys do not refer to the row's table.
    func ownKey(_ row: __shared Row) throws -> ObjectKey? {
        if let ownTable, !ownTable.holds(row) { return nil }
        return try ObjectKey(row, ownColumns)
    }
}
