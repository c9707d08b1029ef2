import KindredPostgres
import Synchronization

// The door for rows that were read, of objects and of a relationship's answer.
extension ContextCore {
    /// Gives an object the row that a query sent at a time has read: it wins unless the row was read or changed later.
    func take(_ row: Row, for object: DatabaseObject, readAt askedAt: ContextTime) throws {
        try take(row, for: object, by: .read(askedAt))
    }

    /// Takes the rows of a relationship's answer: they replace older notes, and refresh objects that are stale or lack
    /// columns.
    func take(_ batch: LoadedBatch, of entity: EntityRuntime) throws {
        taken(read: batch, of: entity)
        // Where views and tables share rows, every object may be.
        let isShared = entity.sharesRows && (runtime.hasViewRelationships || runtime.hasInheritance)
        let mayBePartial = mayBePartial.load(ordering: .acquiring)
        guard isShared || mayBePartial || undoCount > 0, !entity.key.isEmpty else { return }
        for member in batch.rows {
            guard let object = liveObject(entity, member.key),
                isShared || object.isStale || mayBePartial && isPartial(object)
            else { continue }
            try take(member.row, for: object, readAt: batch.askedAt)
        }
    }

    /// The object in memory to which a foreign key can refer and whose `attributes` equal the values of `columns` in `row`, if
    /// any.
    func liveObject(
        _ entity: EntityRuntime,
        where attributes: [Int],
        equal row: Row,
        _ columns: [Int]
    ) throws -> DatabaseObject? {
        // Checked first, before any allocation: entities with many foreign keys have few of them set.
        if columns.contains(where: { row.isNull(at: $0) }) { return nil }
        if let order = entity.keyOrder(of: attributes) {
            guard let key = try ObjectKey(row, order.map { columns[$0] }) else { return nil }
            return liveObject(entity, entity.identity(key))
        }
        guard let wanted = try ObjectKey(row, columns) else { return nil }
        return try withMap { try $0.objects(entity, where: attributes, equal: wanted) }
            .first { entity.isReferenced($0.storedRow) }
    }
}
