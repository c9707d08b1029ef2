import Kindred
import KindredPostgres
import KindredSchema

/// The changes of whole transactions between two cursors, as one snapshot of the database shows them.
struct CommittedBatch: Sendable {
    /// The changes by table: of a partition by its root, of a table that inherits also by its parents.
    var changes: [QualifiedName: TableChanges] = [:]
    /// The keys of rows that came and went between the cursors: a context that read in between may hold them.
    var passed: [QualifiedName: Set<ObjectKey>] = [:]

    /// Texts that stand for the role's rights on the tables that it may not read.
    var rights: [QualifiedName: String] = [:]

    /// Whether nothing has changed.
    var isEmpty: Bool { changes.isEmpty && passed.isEmpty }

    /// Adds rows that came as often as they went, and are there: other rows may have taken their keys.
    mutating func add(present keys: Set<ObjectKey>, of table: QualifiedName) {
        for key in keys { changes[table, default: TableChanges()].updated.updateValue(nil, forKey: key) }
    }
}

/// The changes of one table in a batch: each key once, with the net effect on its row.
struct TableChanges: Sendable, Equatable {
    /// Keys of rows that were not there before and are there now.
    var inserted: Set<ObjectKey> = []
    /// Keys of rows that were there before and are there now, with the columns that statements set; nil if the columns
    /// are unknown, as where a row was deleted and another row took its key.
    var updated: [ObjectKey: Set<ServerText>?] = [:]
    /// Keys of rows that were there before and are gone.
    var deleted: Set<ObjectKey> = []
    /// Why rows have changed that the batch does not name; nil if it names all.
    ///
    /// With a gap no key is named.
    var gap: Tracking.Gap?

    /// The keys of the rows that are there.
    var presentKeys: [ObjectKey] { Array(inserted) + updated.keys }

    /// The number of keys.
    var count: Int { inserted.count + updated.count + deleted.count }

    /// Whether nothing is left of changes that undid each other.
    var isEmpty: Bool { gap == nil && count == 0 }

    init(
        inserted: Set<ObjectKey> = [], updated: [ObjectKey: Set<ServerText>?] = [:], deleted: Set<ObjectKey> = [],
        gap: Tracking.Gap? = nil
    ) {
        (self.inserted, self.updated, self.deleted, self.gap) = (inserted, updated, deleted, gap)
    }

    /// Adds later changes, which gives the net effect of both.
    mutating func merge(_ later: TableChanges) {
        guard gap == nil, later.gap == nil else {
            self = TableChanges(gap: gap ?? later.gap)
            return
        }
        for key in later.deleted {
            if inserted.remove(key) != nil { continue }
            updated.removeValue(forKey: key)
            deleted.insert(key)
        }
        for key in later.inserted {
            if deleted.remove(key) != nil { updated.updateValue(nil, forKey: key) } else { inserted.insert(key) }
        }
        for (key, columns) in later.updated where !inserted.contains(key) {
            if let known = updated[key] {
                updated.updateValue(known.flatMap { known in columns.map { known.union($0) } }, forKey: key)
            } else {
                updated.updateValue(columns, forKey: key)
            }
        }
    }
}
