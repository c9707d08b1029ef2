import KindredPostgres

/// An object as it was when its statement was made: what is staged later stays staged.
struct SavedObject: Sendable {
    let object: DatabaseObject
    /// The row as it is to be stored.
    private(set) var row: Row
    /// The row as the database has it, where it is not known from what is staged.
    private var knownStored: Row?
    /// What was staged: the same as long as nothing is staged since.
    let stagingBox: StagingBox?
    /// The columns that are written.
    private(set) var columns: ColumnSet
    /// The links whose foreign keys are written, by slot.
    private(set) var links: [Int: DatabaseObject] = [:]
    /// Whether something that is staged is left for later.
    let isPartial: Bool
    /// The columns that are NULL for others only, and get their values back.
    private var lent: ColumnSet = []

    var entity: EntityRuntime { object.runtime }

    /// The row as the database has it.
    var stored: Row { knownStored ?? stagingBox?.staging.stored ?? row }

    /// The row that the changes were made on: its version is the one that the database must have.
    var base: Row { stagingBox?.staging.base ?? stored }

    /// Takes what is staged, with the keys of new objects that have been stored by now.
    ///
    /// What another task has linked it to since the save began, which this one does not store, stays staged.
    ///
    /// - Parameters:
    ///   - links: what a new object was linked to when the save began; nil for as it is now.
    ///   - deferring: slots of links, or of foreign keys given by value, that are set later.
    init(_ object: DatabaseObject, links known: [Int: DatabaseObject]? = nil, deferring: Set<Int> = []) throws {
        let (row, box, isNew) = object.withState { ($0.row, $0.stagingBox, $0.status == .inserted) }
        self.object = object
        self.row = row
        stagingBox = box
        columns = box?.staging.columns ?? []
        let links = box?.staging.destinations ?? [:]
        var deferring = deferring
        for (slot, destination) in links
        where isNew ? known != nil && known?[slot] !== destination : destination.isInserted {
            deferring.insert(slot)
        }
        isPartial = !deferring.isEmpty
        for slot in deferring where links[slot] == nil {
            leave(entity.leavingColumns(of: entity.relationships[slot].ownColumns) ?? [])
        }
        if links.isEmpty { return }
        for (slot, destination) in links where !deferring.contains(slot) {
            try link(slot, destination, isNew: isNew)
        }
    }

    /// Whether the object knows nothing but the row and what is staged, neither of which has changed since.
    var isAllThatWasKnown: Bool {
        links.isEmpty && !isPartial
            && object.withState { state in
                state.stagingBox === stagingBox && state.group == nil && state.relationships.isEmpty
            }
    }

    /// The object with NULL in some columns, and nothing else changed.
    init(_ object: DatabaseObject, leaving columns: [Int]) {
        self.object = object
        let (stored, box) = object.withState { ($0.storedRow, $0.stagingBox) }
        knownStored = stored
        stagingBox = box
        row = stored.settingNull(columns)
        self.columns = ColumnSet(columns)
        isPartial = false
        lent = self.columns.subtracting(box?.staging.columns ?? [])
    }

    private mutating func leave(_ columns: [Int]) {
        row = row.settingNull(columns)
        self.columns.subtract(ColumnSet(columns))
    }

    /// The object with NULL in another's columns too.
    func leaving(_ other: SavedObject) -> SavedObject {
        var both = self
        both.columns.formUnion(other.columns)
        both.lent.formUnion(other.lent)
        both.row = stored.settingNull(Array(both.columns))
        return both
    }

    /// Writes what was given up to others again, where no change of the object's own does: its values must not be lost.
    mutating func take(_ released: SavedObject) {
        let missing = released.lent.subtracting(columns)
        knownStored = stored
        row = row.replacing(missing, from: released.stored)
        columns.formUnion(missing)
    }

    private mutating func link(_ slot: Int, _ destination: DatabaseObject, isNew: Bool) throws {
        let relationship = entity.relationships[slot]
        guard case .foreignKey(let foreignKey, let referenced) = relationship.link else { return }
        let values = destination.row
        let written = entity.writtenColumns(of: foreignKey, isNew: isNew)
        var cells = RowCells()
        for (column, referenced) in zip(foreignKey, referenced) {
            guard let value = try values[referenced] else {
                throw destination.lacksReferencedValue(referenced, relationship.model.name)
            }
            try cells.set(value, at: column, of: entity, object.context.types)
        }
        let wanted = row.replacing(cells)
        for column in foreignKey where !row.hasSameBytes(as: wanted, at: column) {
            // What a new row's generated columns will be is not known.
            if isNew, entity.generatedColumns.contains(column) { continue }
            // A column shared with another key, such as a tenant's, has to agree already.
            let isShared = columns.contains(column) || !written.contains(column)
            guard !isShared else { throw object.disagrees(column, relationship.model.name) }
        }
        row = wanted
        columns.formUnion(ColumnSet(written))
        links[slot] = destination
    }
}
