import KindredPostgres

/// An object's staged changes: immutable and replaced whole, so that copies of an object's state are cheap.
///
/// The object's visible row has the staged values, so that reading costs nothing extra; the stored row is kept here.
package struct Staging: Sendable {
    /// The row as last seen in the database; all NULL for a new object.
    var stored: Row
    /// The row that the changes were made on, if another version has been read since.
    var base: Row?
    /// The attributes with staged values, by position.
    package var columns = ColumnSet()
    /// The new objects that to-one relationships point to, by slot; once stored, their keys become the foreign keys.
    package var destinations = [Int: DatabaseObject]()
    /// Invalid assignments, by key.
    var problems = [ServerText: KindredError]()
    /// The key of a new object until it is stored.
    var temporaryKey: Int64?
    /// Whether the row is to be deleted.
    var isDeletion = false

    /// Whether nothing is staged: no new object, no value, no link, no problem, no deletion.
    var isEmpty: Bool {
        temporaryKey == nil && columns.isEmpty && destinations.isEmpty && problems.isEmpty && !isDeletion
    }

    /// Whether nothing but values of a stored row is staged.
    var hasValuesOnly: Bool { temporaryKey == nil && destinations.isEmpty && problems.isEmpty && !isDeletion }

    /// Removes the links of relationships whose foreign key alone has one of the columns.
    ///
    /// A column shared by keys, such as a tenant's, removes no link: it must agree when the link is saved.
    mutating func unlink(_ columns: ColumnSet, in entity: EntityRuntime) {
        guard !destinations.isEmpty else { return }
        for slot in destinations.keys {
            let own = entity.identifyingColumns(of: entity.relationships[slot].ownColumns)
            if own.contains(where: columns.contains) { destinations[slot] = nil }
        }
    }
}

/// A boxed staging, so that an object without one pays a single word.
package final class StagingBox: Sendable {
    let staging: Staging

    init(_ staging: Staging) {
        self.staging = staging
    }
}

extension ObjectState {
    /// The unsaved changes; nil for none.
    package var staging: Staging? {
        get { stagingBox?.staging }
        set { stagingBox = newValue.flatMap { $0.isEmpty ? nil : StagingBox($0) } }
    }

    /// The unsaved changes, or an empty staging.
    var stagingToChange: Staging { staging ?? Staging(stored: row) }

    /// The row in the database.
    package var storedRow: Row { stagingBox?.staging.stored ?? row }

    /// Whether a save may give the row other values in some of the columns: a new row, or staged values or links.
    func mayChange(_ columns: ColumnSet) -> Bool {
        guard status != .inserted, let staging = stagingBox?.staging else { return status == .inserted }
        return !staging.columns.isDisjoint(with: columns) || !staging.destinations.isEmpty
    }

    /// The identity key's stored values, or the temporary key; nil for a key with NULL.
    func key(_ entity: EntityRuntime) -> ObjectKey? {
        entity.identity(of: storedRow, stagingBox?.staging.temporaryKey)
    }

    /// Takes a newer stored row; staged values stay unless they equal the new values.
    ///
    /// - Parameter keepsBase: whether the changes still count as made on the former row, so that a save detects a
    ///   conflict.
    mutating func rebase(on stored: Row, of entity: EntityRuntime, keepsBase: Bool = false) {
        guard var staging else {
            row = stored
            return
        }
        let shown = row
        staging.columns = staging.columns.filter { !shown.hasSameBytes(as: stored, at: $0) }
        staging.base = keepsBase ? staging.base ?? staging.stored : nil
        staging.stored = stored
        // The value that a link to a new object will write is unknown, and shows NULL until then.
        let staged = staging.destinations.keys.reduce(staging.columns) { columns, slot in
            columns.union(ColumnSet(entity.ownColumns(of: entity.relationships[slot].ownColumns)))
        }
        row = staged.isEmpty ? stored : stored.replacing(staged, from: shown)
        self.staging = staging
    }

    /// Takes back the staged values of some attributes, and the links whose foreign keys contain them.
    mutating func unstage(_ columns: [Int], in entity: EntityRuntime) {
        guard var staging else { return }
        let taken = ColumnSet(columns)
        row = row.replacing(taken, from: staging.stored)
        staging.columns.subtract(taken)
        staging.unlink(taken, in: entity)
        self.staging = staging
    }

    /// Shows the stored row again; a new object is discarded.
    ///
    /// - Returns: the number of a new object.
    mutating func dropStaging() -> Int64? {
        guard let staging else { return nil }
        row = staging.stored
        if staging.temporaryKey != nil { status = .deleted }
        stagingBox = nil
        return staging.temporaryKey
    }

    /// The version that a write expects: the version of the row on which the changes were made.
    func expectedVersion(_ version: VersionColumn) throws -> PostgresValue? {
        try (stagingBox?.staging.base ?? storedRow)[version.position]
    }

    /// Takes the row as it was read again on request: it is the base of the changes, and lazy columns, which were not read, are
    /// loaded again when they are asked for.
    mutating func accept(readAgain entity: EntityRuntime) {
        acceptStoredVersion()
        if entity.lazyColumns.isEmpty { return }
        let staged = staging
        let unstaged = entity.lazyColumns.subtracting(staged?.columns ?? [])
        row = row.leavingOut(Array(unstaged))
        guard var staged else { return }
        staged.stored = staged.stored.leavingOut(Array(entity.lazyColumns))
        staging = staged
    }

    /// Makes the row as last read the base of the changes.
    mutating func acceptStoredVersion() {
        guard var staging, staging.base != nil else { return }
        staging.base = nil
        self.staging = staging
    }
}

extension EntityRuntime {
    /// The identity key of a stored row, or the temporary one of a new object; nil for a key with NULL.
    func identity(of stored: __shared Row, _ temporary: Int64?) -> ObjectKey? {
        if key.isEmpty { return nil }
        if let temporary { return .temporary(temporary) }
        return try? ObjectKey(stored, key)
    }
}
