public import Kindred
import KindredPostgres
import KindredSchema

/// The net effects of whole transactions on the rows of some entities: each object once.
///
/// Rows are named, not read: find objects by `context.get(id)`, which gives them as they are now. Changes of a key
/// are a deletion and an insertion. The program's own writes are among them.
public struct ChangeBatch: Sendable, Hashable {
    /// Rows that were not there before and are there now.
    public internal(set) var inserted: Set<ObjectID> = []
    /// Rows that were there before and are there now, with the columns that statements set.
    public internal(set) var updated: [ObjectID: Set<String>] = [:]
    /// Rows that were there before and are gone.
    public internal(set) var deleted: Set<ObjectID> = []
    /// The place behind them; nil if an element about other entities follows, of the same transactions.
    public internal(set) var cursor: ChangeCursor?

    /// Whether there are none.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    mutating func add(_ changes: TableChanges, of entity: EntityRuntime) {
        for key in changes.inserted { inserted.insert(ObjectID(entity, key)) }
        for (key, columns) in changes.updated {
            // Another row took the key: all of its columns were set.
            updated[ObjectID(entity, key)] = columns.map { Set($0.map(\.text)) } ?? entity.columnNames
        }
        for key in changes.deleted { deleted.insert(ObjectID(entity, key)) }
    }
}

extension EntityRuntime {
    fileprivate var columnNames: Set<String> {
        Set(entity.attributes.indices.filter { $0 != rowTable?.column }.map { entity.attributes[$0].name })
    }
}
