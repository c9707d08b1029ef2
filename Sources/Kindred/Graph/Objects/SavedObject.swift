import KindredPostgres

/// A snapshot of an object at the time of its statement: changes staged later stay staged.
struct SavedObject: Sendable {
    let object: DatabaseObject
    /// The row to store.
    private(set) var row: Row
    /// The row in the database, if it is not the row in `stagingBox`.
    private var knownStored: Row?
    /// The staged changes; the same box as long as nothing more is staged.
    let stagingBox: StagingBox?
    /// The columns to write.
    private(set) var columns: ColumnSet
    /// The links whose foreign keys are written, by slot.
    private(set) var links = [Int: DatabaseObject]()
    /// Whether some staged changes are left for later.
    let isPartial: Bool
    /// Columns set to NULL to free a unique value for another row; they get their values back.
    private var vacated = ColumnSet()

    var entity: EntityRuntime { object.runtime }

    /// The row in the database.
    var stored: Row { knownStored ?? stagingBox?.staging.stored ?? row }

    /// The row that the changes were made on: the database must still have its version.
    var base: Row { stagingBox?.staging.base ?? stored }

    /// Takes a snapshot, with the keys of new objects that have been stored by now.
    ///
    /// Links that another task has staged since the save began stay staged.
    ///
    /// - Parameters:
    ///   - links: a new object's links when the save began; nil for the current ones.
    ///   - deferring: slots of links, or of foreign keys given by value, to write later.
    init(_ object: DatabaseObject, links known: [Int: DatabaseObject]? = nil, deferring: Set<Int> = []) throws {
        let (row, box, isNew) = object.withState { ($0.row, $0.stagingBox, $0.status == .inserted) }
        self.object = object
        self.row = row
        stagingBox = box
        columns = box?.staging.columns ?? []
        let links = box?.staging.destinations ?? [:]
        if links.isEmpty && deferring.isEmpty {
            isPartial = false
            return
        }
        var deferring = deferring
        for (slot, destination) in links
        where isNew ? known != nil && known?[slot] !== destination : destination.isInserted {
            deferring.insert(slot)
        }
        isPartial = !deferring.isEmpty
        for slot in deferring where links[slot] == nil {
            leave(entity.leavingColumns(of: entity.relationships[slot].ownColumns) ?? [])
        }
        for (slot, destination) in links where !deferring.contains(slot) {
            try link(entity.relationships[slot], destination, isNew: isNew)
        }
    }

    /// Whether the object has no state besides row and staging, both unchanged since the snapshot.
    var hasOnlyRowAndStaging: Bool {
        links.isEmpty && !isPartial
            && object.withState { state in
                state.stagingBox === stagingBox && state.group == nil && state.relationships.isEmpty
            }
    }

    /// A snapshot that sets some columns to NULL and changes nothing else.
    init(_ object: DatabaseObject, leaving columns: [Int]) {
        self.object = object
        let (stored, box) = object.withState { ($0.storedRow, $0.stagingBox) }
        knownStored = stored
        stagingBox = box
        row = stored.settingNull(columns)
        self.columns = ColumnSet(columns)
        isPartial = false
        vacated = self.columns.subtracting(box?.staging.columns ?? [])
    }

    private mutating func leave(_ columns: [Int]) {
        row = row.settingNull(columns)
        self.columns.subtract(ColumnSet(columns))
    }

    /// The snapshot with another's columns set to NULL, too.
    func leaving(_ other: SavedObject) -> SavedObject {
        var both = self
        both.columns.formUnion(other.columns)
        both.vacated.formUnion(other.vacated)
        both.row = stored.settingNull(Array(both.columns))
        return both
    }

    /// Restores the columns that were set to NULL for other rows, unless the object's own changes write them.
    mutating func restore(_ released: SavedObject) {
        let missing = released.vacated.subtracting(columns)
        knownStored = stored
        row = row.replacing(missing, from: released.stored)
        columns.formUnion(missing)
    }

    private mutating func link(
        _ relationship: RelationshipRuntime, _ destination: DatabaseObject, isNew: Bool
    ) throws {
        let foreignKey = relationship.ownColumns
        let values = destination.row
        let written = entity.writtenColumns(of: foreignKey, isNew: isNew)
        var cells = RowCells()
        for (column, referenced) in zip(foreignKey, relationship.otherColumns) {
            guard let value = try values[referenced] else {
                throw destination.lacksReferencedValue(referenced, relationship.model.name)
            }
            try cells.set(value, at: column, of: entity, object.core.types)
        }
        let wanted = row.replacing(cells)
        for column in foreignKey where !row.hasSameBytes(as: wanted, at: column) {
            // The values of a new row's generated columns are not known yet.
            if isNew, entity.generatedColumns.contains(column) { continue }
            // A column shared with another key, such as a tenant's, must already agree.
            let isShared = columns.contains(column) || !written.contains(column)
            guard !isShared else { throw object.disagrees(column, relationship.model.name) }
        }
        row = wanted
        columns.formUnion(ColumnSet(written))
        links[relationship.slot] = destination
    }
}

extension ObjectState {
    /// The state of a new object when its statement was made, if it had nothing else.
    init(before saved: SavedObject) {
        self.init(row: saved.row, staging: saved.stagingBox)
    }

    /// Takes the row that a new object was stored with; changes staged since its statement was made stay staged.
    ///
    /// Does not count as a change: every answer that has the row was read later.
    mutating func becomeStored(_ stored: Row, _ saved: SavedObject) {
        if let box = stagingBox, box === saved.stagingBox, box.staging.destinations.isEmpty, !saved.isPartial {
            status = .persistent
            stagingBox = nil
            row = stored
            return
        }
        settle(saved, in: saved.entity)
        if var staging {
            status = .persistent
            staging.temporaryKey = nil
            self.staging = staging
        }
        rebase(on: stored, of: saved.entity)
    }

    /// Unstages the saved values, unless they were changed again since.
    mutating func settle(_ saved: SavedObject, in entity: EntityRuntime) {
        guard let box = stagingBox else { return }
        if box === saved.stagingBox, !saved.isPartial, box.staging.hasValuesOnly {
            stagingBox = nil
            return
        }
        var staging = box.staging
        for (slot, destination) in saved.links where staging.destinations[slot] === destination {
            staging.destinations[slot] = nil
            row = row.replacing(ColumnSet(entity.relationships[slot].ownColumns), from: saved.row)
        }
        let shown = row
        staging.columns = staging.columns.filter { !shown.hasSameBytes(as: saved.row, at: $0) }
        self.staging = staging
    }
}

extension TransactionJournal {
    /// Records new objects that are being stored, each with its state when its statement was made.
    func record(stored saved: ArraySlice<SavedObject>) {
        guard let core = saved.first?.object.core else { return }
        func areUnchanged() -> Bool {
            // A span: an element of an array would be copied.
            let saved = saved.span
            for place in saved.indices {
                if !saved[place].hasOnlyRowAndStaging { return false }
            }
            return true
        }
        let isRecorded = recordLater(in: core, if: areUnchanged()) {
            saved.map { ($0.object, ObjectState(before: $0)) }
        }
        if !isRecorded { record(saved.lazy.map(\.object)) }
    }
}
