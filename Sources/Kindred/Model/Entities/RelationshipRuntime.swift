import KindredPostgres
package import KindredSchema

/// A relationship with names resolved to columns and their entities, so that following it needs no look-up.
///
/// Entities and relationships refer to each other in circles. Only one direction is strong: a schema's runtime holds
/// its entities, an entity its relationships, and a helper's entity the relationships that lead through it.
/// Relationships refer back without owning, so that a schema that is replaced is freed as a whole. The references back
/// are valid wherever they are followed: the core of a context holds its schema's runtime, and objects, sets, requests
/// and journals hold that core. A shared look-up, which may outlive them, uses nothing of its entity but columns and
/// texts. A reference that is followed too late ends the program instead of reading freed memory.
package final class RelationshipRuntime: Sendable {
    /// The foreign keys of the helper's rows to the two ends, position by position with the ends' columns.
    package final class HelperLink: Sendable {
        package unowned let entity: EntityRuntime
        /// Helper columns that reference the source's `ownColumns`.
        package let sourceColumns: [Int]
        /// Helper columns that reference the destination's `otherColumns`.
        package let destinationColumns: [Int]
        /// The helper columns that make a pair unique, in helper order, without repetition.
        package let pairColumns: [Int]
        /// Helper columns that hold positions, for each ordered end, with the columns of the owner whose members they
        /// order.
        package let positions: [(column: Int, ownerColumns: [Int])]

        /// The columns that decide which rows a helper's row pairs, and where they are in their order.
        var placingColumns: ColumnSet { ColumnSet(pairColumns + positions.map(\.column)) }

        /// Whether a helper's row may have a pair's key, or be stored for it, and be no pair: its filter hides it, or it is
        /// another tenant's.
        var mayHidePairs: Bool {
            entity.filter != nil || entity.tenantColumn.map { !pairColumns.contains($0) } ?? false
        }

        init(
            entity: EntityRuntime, sourceColumns: [Int], destinationColumns: [Int],
            positions: [(column: Int, ownerColumns: [Int])]
        ) {
            self.entity = entity
            self.sourceColumns = sourceColumns
            self.destinationColumns = destinationColumns
            pairColumns = sourceColumns + destinationColumns.filter { !sourceColumns.contains($0) }
            self.positions = positions
        }
    }

    package let model: Relationship
    /// Position among the source's relationships, under which a loaded value is kept.
    package let slot: Int
    package unowned let source: EntityRuntime
    package unowned let destination: EntityRuntime
    /// Position of the inverse among the destination's relationships.
    private let inverseSlot: Int
    /// The helper whose rows reference both ends; nil if a row of one end references the other.
    package let helper: HelperLink?
    package let isToMany: Bool
    /// Whether the source's rows hold the foreign key.
    package let holdsForeignKey: Bool
    /// The column that orders the members, of the destination or the helper; nil without an order.
    package let position: Int?
    /// The column of the source's rows that orders the inverse's members; nil without an order, and with a helper.
    let inversePosition: Int?
    /// The source's columns by which the other end is found.
    package let ownColumns: [Int]
    /// The destination's columns by which it is found, position by position with `ownColumns`.
    let otherColumns: [Int]
    /// The columns of the rows in `linkRows` that find their owner.
    package let linkColumns: [Int]
    /// The table of the source whose rows the other end refers to, if rows of other tables are among the source's.
    private let ownTable: RowTable?
    /// Whether only the server can compare the keys: texts that ignore case or trailing spaces, intervals, keys of
    /// different types.
    package let isComparedByServer: Bool

    init(
        model: Relationship, slot: Int, source: EntityRuntime, destination: EntityRuntime, inverseSlot: Int,
        helper: HelperLink?, position: Int?, inversePosition: Int?, ownColumns: [Int], otherColumns: [Int]
    ) {
        self.model = model
        self.slot = slot
        self.source = source
        self.destination = destination
        self.inverseSlot = inverseSlot
        self.helper = helper
        self.position = position
        self.inversePosition = inversePosition
        self.ownColumns = ownColumns
        self.otherColumns = otherColumns
        linkColumns = helper?.sourceColumns ?? otherColumns
        isToMany = model.isToMany
        holdsForeignKey = model.holdsForeignKey && helper == nil
        // Views show rows as they are: only a table tells which rows foreign keys refer to.
        ownTable = model.holdsForeignKey ? nil : source.rowTable
        func needServer(_ columns: [Int], of entity: Entity, with others: [Int], of other: Entity) -> Bool {
            zip(columns, others).contains { column, otherColumn in
                entity.attributes[column].isComparedByServer(with: other.attributes[otherColumn])
            }
        }
        let (own, other) = (source.entity, destination.entity)
        isComparedByServer =
            if let helper {
                needServer(helper.sourceColumns, of: helper.entity.entity, with: ownColumns, of: own)
                    || needServer(helper.destinationColumns, of: helper.entity.entity, with: otherColumns, of: other)
            } else {
                needServer(ownColumns, of: own, with: otherColumns, of: other)
            }
    }

    /// The relationship as seen from its other end.
    package var inverse: RelationshipRuntime { destination.relationships[inverseSlot] }

    /// The filter of the members; nil if all are shown, and for the one object at the other end, which is never hidden.
    var filter: RowFilter? { isToMany ? destination.filter : nil }

    /// Whether some rows that store the relationship may belong to members that are not shown: a filter hides members,
    /// or a helper may pair an owner with another tenant's member or with a member that a policy hides.
    var hidesMembers: Bool { hidesMembersByModel || helper != nil && destination.hidesRows }

    /// Like ``hidesMembers``, but without policies: members that a policy hides count for limits on the number of
    /// members.
    var hidesMembersByModel: Bool { filter != nil || helper != nil && destination.tenantColumn != nil }

    /// Whether a helper pairs owners with members that are shown by rows that its filter may hide.
    var hidesPairs: Bool { helper.map { $0.entity.filter != nil } ?? false }

    /// The filter of the rows that store the relationship, the helper's or members'; nil if all are shown.
    var linkFilter: RowFilter? { helper.map { $0.entity.filter } ?? filter }

    /// Whether not all rows that store the relationship are shown.
    var hidesLinks: Bool { hidesMembers || hidesPairs }

    /// Whether the destination's rows hold the foreign key.
    var destinationHoldsForeignKey: Bool { helper == nil && !holdsForeignKey }

    /// The rows that store the relationship, the helper's or members'; for a foreign key in the source, the row that it
    /// refers to.
    package var linkRows: EntityRuntime { helper?.entity ?? destination }

    /// The key by which the other end of the relationship is found from a row of the source; nil if it has a NULL, or if foreign
    /// keys do not refer to the row's table.
    package func ownKey(_ row: __shared Row) throws -> ObjectKey? {
        if let ownTable, !ownTable.holds(row) { return nil }
        return try ObjectKey(row, ownColumns)
    }
}

extension RelationshipRuntime: Hashable, Comparable {
    /// By the positions of the source and of the relationship in the schema.
    package static func < (left: RelationshipRuntime, right: RelationshipRuntime) -> Bool {
        (left.source.index, left.slot) < (right.source.index, right.slot)
    }

    package static func == (left: RelationshipRuntime, right: RelationshipRuntime) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
