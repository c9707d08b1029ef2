import KindredPostgres

/// An object as it was when its statement was made: what is staged later stays staged.
struct SavedObject: Sendable {
    let object: DatabaseObject
    /// The row as it is to be stored.
    private(set) var row: Row
    /// The row as the database has it.
    let stored: Row
    /// The row that the changes were made on: its version is the one that the database must have.
    let base: Row
    /// The columns that are written.
    private(set) var columns: Set<Int>
    /// The links whose foreign keys are written, by slot.
    private(set) var links: [Int: DatabaseObject] = [:]

    var entity: EntityRuntime { object.runtime }

    /// Takes what is staged, with the keys of new objects that have been stored by now.
    ///
    /// - Parameter deferring: slots of links that are set later.
    init(_ object: DatabaseObject, deferring: Set<Int> = []) throws {
        let (row, staging, isNew) = object.withState { ($0.row, $0.staging, $0.status == .inserted) }
        self.object = object
        self.row = row
        stored = staging?.stored ?? row
        base = staging?.base ?? stored
        columns = staging?.columns ?? []
        for (slot, destination) in staging?.destinations ?? [:] where !deferring.contains(slot) {
            try link(slot, destination, isNew: isNew)
        }
    }

    /// The object with NULL in some columns, and nothing else changed.
    init(_ object: DatabaseObject, leaving columns: [Int]) {
        self.object = object
        stored = object.storedRow
        base = object.withState { $0.stagingBox?.staging.base ?? $0.storedRow }
        row = stored.settingNull(columns)
        self.columns = Set(columns)
    }

    private mutating func link(_ slot: Int, _ destination: DatabaseObject, isNew: Bool) throws {
        let relationship = entity.relationships[slot]
        guard case .foreignKey(let foreignKey, let referenced) = relationship.link else { return }
        let values = destination.row
        let written = isNew ? foreignKey : entity.ownColumns(of: foreignKey)
        var cells: [Int: [UInt8]?] = [:]
        for (column, referenced) in zip(foreignKey, referenced) {
            guard let value = try values[referenced] else {
                throw destination.lacksReferencedValue(referenced, relationship.model.name)
            }
            let bytes = try entity.cell(value, at: column, of: row.columns)
            cells.updateValue(bytes, forKey: column)
        }
        let wanted = row.replacing(cells)
        for column in foreignKey where !row.hasSameBytes(as: wanted, at: column) {
            // A column shared with another key, such as a tenant's, has to agree already.
            let isShared = columns.contains(column) || !written.contains(column)
            guard !isShared else { throw object.disagrees(column, relationship.model.name) }
        }
        row = wanted
        columns.formUnion(written)
        links[slot] = destination
    }
}

/// Objects of one entity whose rows are written by one statement.
struct SavedGroup: Sendable {
    let entity: EntityRuntime
    /// The columns that are written, in the entity's order.
    let columns: [Int]
    var objects: [SavedObject]

    /// At most this many rows go with one statement, so that no message becomes too large.
    static let maximumRows = 25_000

    /// Puts objects together that are of one entity and write the same columns, in the order of the first of each.
    static func groups(_ objects: [SavedObject], columns: (SavedObject) -> Set<Int>) -> [SavedGroup] {
        struct Shape: Hashable {
            let entity: Int
            let columns: Set<Int>
        }
        var positions: [Shape: Int] = [:]
        var groups: [SavedGroup] = []
        for object in objects {
            let shape = Shape(entity: object.entity.index, columns: columns(object))
            if let position = positions[shape], groups[position].objects.count < maximumRows {
                groups[position].objects.append(object)
            } else {
                positions[shape] = groups.count
                groups.append(SavedGroup(entity: object.entity, columns: shape.columns.sorted(), objects: [object]))
            }
        }
        return groups
    }

    /// Groups of new objects: a column without a default that only some of them set is NULL for the others.
    static func insertions(_ objects: [SavedObject]) -> [SavedGroup] {
        var all: [Int: Set<Int>] = [:]
        for object in objects { all[object.entity.index, default: []].formUnion(object.columns) }
        return groups(objects) { object in
            let attributes = object.entity.entity.attributes
            let others = all[object.entity.index, default: []].filter { !attributes[$0].hasDefault }
            return object.columns.union(others)
        }
    }
}
