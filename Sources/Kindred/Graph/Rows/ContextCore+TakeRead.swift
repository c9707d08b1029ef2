import KindredPostgres
import Synchronization

// The door for rows that were read, of objects and of a relationship's answer.
extension ContextCore {
    /// Gives an object the row that a query sent at a time has read: it wins unless the row was read or changed later.
    func take(_ row: Row, for object: DatabaseObject, readAt askedAt: ContextTime) throws {
        try take(row, for: object, by: .read(askedAt))
    }

    /// Takes the rows of a relationship's answer: they are newer than the log, and refresh objects that are stale or lack
    /// columns.
    package func take(_ batch: Answer, of entity: EntityRuntime) throws {
        appendNewer(batch, of: entity)
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

    /// Appends rows of an answer without objects that are newer than the log has them.
    private func appendNewer(_ batch: Answer, of entity: EntityRuntime) {
        let newer: [ChangeLog.Event] = withMap { map in
            guard map.log.hasEntries(of: entity) else { return [] }
            return batch.rows.compactMap { member in
                if map.object(entity, member.key) != nil { return nil }
                return map.log.newerRow(member.row, of: entity, member.key, askedAt: batch.askedAt)
            }
        }
        if !newer.isEmpty { append(newer, by: .read(batch.askedAt)) }
    }

    /// Members with the newest rows that are known: an answer put together in memory has them, as one from the server would.
    func newest(_ members: [Member], of entity: EntityRuntime) -> [Member] {
        withMap { map in
            members.map { member in
                var member = member
                if let object = map.object(entity, member.key) {
                    member.row = object.storedRow
                } else if let newer = map.log.row(entity, member.key) {
                    member.row = newer.row
                }
                return member
            }
        }
    }

    /// Applies the changes since a question to an object that was made from its answer.
    func bringUpToDate(
        _ object: DatabaseObject, _ key: ObjectKey, askedAt: ContextTime, in map: inout IdentityMap
    ) {
        let entity = object.runtime
        if map.isDeletingAny(of: entity), map.isDeleting(entity, key) { object.markDeleting() }
        guard map.log.hasEntries(of: entity) else { return }
        let (sentAt, isHidden) = (object.withState { $0.seenAt }, isHidden)
        // An answer that was on its way when the row was deleted.
        if map.log.isDeleted(entity, key, since: sentAt, isHidden: isHidden) {
            object.withState { $0.status = .deleted }
            return map.remove(object, of: entity, key: key)
        }
        if map.log.forgottenAt(entity) > sentAt {
            object.withState { $0.becomeStale(at: sentAt) }
            undone.add(1, ordering: .acquiringAndReleasing)
            following?.becameStale(at: now)
        }
        if let newer = map.log.row(entity, key), newer.changedAt > askedAt { object.withState { $0.show(newer) } }
        let event = map.log.newerRow(object.storedRow, of: entity, key, askedAt: askedAt, isHidden: isHidden)
        if let event { append(event, readAt: askedAt, to: &map) }
    }

    /// The object in memory to which a foreign key can refer and whose `attributes` equal the values of `columns` in `row`, if
    /// any.
    package func liveObject(
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
