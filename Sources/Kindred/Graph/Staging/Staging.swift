import KindredPostgres

/// What is staged on an object: immutable and replaced whole, so that copies of an object's state are cheap.
///
/// The object's visible row has the staged values already, so that reading costs nothing extra; what the database has is
/// kept here.
package struct Staging: Sendable {
    /// The row as last seen in the database; all NULL for a new object.
    var stored: Row
    /// The row that the changes were made on, where another version has been read since.
    var base: Row?
    /// The attributes that have a value of their own, by position.
    var columns = ColumnSet()
    /// The new objects that to-one relationships point to, by slot; their keys become the foreign keys when they are
    /// stored.
    var destinations: [Int: DatabaseObject] = [:]
    /// What cannot be saved as it was given, by key.
    var problems: [String: KindredError] = [:]
    /// The key of a new object until it is stored.
    var temporaryKey: Int64?
    /// Whether the row is to be deleted.
    var isDeletion = false

    /// Whether nothing is staged: no new object, no value, no link, no problem, no deletion.
    var isEmpty: Bool {
        temporaryKey == nil && columns.isEmpty && destinations.isEmpty && problems.isEmpty && !isDeletion
    }

    /// Forgets the links of relationships whose foreign key has one of the columns for itself.
    ///
    /// A column that keys share, such as a tenant's, ends no link: it has to agree when the link is saved.
    mutating func unlink(_ columns: ColumnSet, in entity: EntityRuntime) {
        guard !destinations.isEmpty else { return }
        for slot in destinations.keys {
            let own = entity.ownColumns(of: entity.relationships[slot].ownColumns)
            if own.contains(where: columns.contains) { destinations[slot] = nil }
        }
    }
}

/// A staging in a box, so that an object without one pays a single word.
package final class StagingBox: Sendable {
    let staging: Staging

    init(_ staging: Staging) {
        self.staging = staging
    }
}

extension ObjectState {
    /// What is staged and not saved yet; nil if nothing is.
    var staging: Staging? {
        get { stagingBox?.staging }
        set { stagingBox = newValue.flatMap { $0.isEmpty ? nil : StagingBox($0) } }
    }

    /// What is staged, or an empty staging to begin with.
    var stagingToChange: Staging { staging ?? Staging(stored: row) }

    /// The row as the database has it.
    var storedRow: Row { stagingBox?.staging.stored ?? row }

    /// The identity key's values in the database, or the temporary key; nil for a key with NULL.
    func key(_ entity: EntityRuntime) -> ObjectKey? {
        if entity.key.isEmpty { return nil }
        if let number = stagingBox?.staging.temporaryKey { return .temporary(number) }
        return try? ObjectKey(storedRow, entity.key)
    }

    /// Takes a newer stored row; staged values stay unless the database has them now.
    ///
    /// - Parameter keepsBase: whether the changes still count as made on the row of before, so that a save finds out that
    ///   others have changed it.
    mutating func rebase(on stored: Row, of entity: EntityRuntime, keepsBase: Bool = false) {
        guard var staging else {
            row = stored
            return
        }
        let shown = row
        staging.columns = staging.columns.filter { !shown.hasSameBytes(as: stored, at: $0) }
        staging.base = keepsBase ? staging.base ?? staging.stored : nil
        staging.stored = stored
        // What a link to a new object will write is not known yet, and shows nothing until then.
        let staged = staging.destinations.keys.reduce(staging.columns) { columns, slot in
            columns.union(ColumnSet(entity.ownColumns(of: entity.relationships[slot].ownColumns)))
        }
        row = staged.isEmpty ? stored : stored.replacing(staged, from: shown)
        self.staging = staging
    }

    /// Takes the staged values of some attributes back, and the links that they are the foreign keys of.
    mutating func unstage(_ columns: [Int], in entity: EntityRuntime) {
        guard var staging else { return }
        let taken = ColumnSet(columns)
        row = row.replacing(taken, from: staging.stored)
        staging.columns.subtract(taken)
        staging.unlink(taken, in: entity)
        self.staging = staging
    }

    /// The version that a write expects: that of the row which the changes were made on.
    func expectedVersion(_ version: VersionColumn) throws -> PostgresValue? {
        try (stagingBox?.staging.base ?? storedRow)[version.position]
    }

    /// Takes the row as it was last read for the one that changes are made on.
    mutating func acceptStoredVersion() {
        guard var staging, staging.base != nil else { return }
        staging.base = nil
        self.staging = staging
    }
}
