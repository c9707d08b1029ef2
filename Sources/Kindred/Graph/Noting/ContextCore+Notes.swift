import KindredPostgres
import Synchronization

extension ContextCore {
    /// Notes a change of rows or relationships, at a new time.
    ///
    /// The time is taken under the map's lock, as readers take theirs, so that an earlier reader sees the note next
    /// time.
    func noteNow<T: Sendable>(_ body: (inout IdentityMap, ContextTime) -> T) -> T {
        journal?.touch(self)
        return withMap { map in
            let time = tick()
            defer { notedAt.store(time, ordering: .releasing) }
            following?.noted(at: time)
            return body(&map, time)
        }
    }

    /// Notes that rows of an entity are gone, or may have changed too (`areStale`), without knowing
    /// which.
    func noteLostRows(of entity: EntityRuntime, areStale: Bool = false) {
        let (before, time) = noteNow { map, time in (map.notes.noteLostRows(entity, at: time, areStale: areStale), time)
        }
        writing?.recordLostRows(before, entity, at: time, in: self)
        notePartsLost(entity)
        noteWrittenThrough(entity)
    }

    /// Notes that the context has written a row, or deleted it: another client may have changed it before the answer
    /// came.
    func noteWritten(_ entity: EntityRuntime, _ key: ObjectKey) {
        if !key.isTemporary { noteWritten(entity, CollectionOfOne(key)) }
    }

    /// Notes that the context has written rows, or deleted them.
    func noteWritten(_ entity: EntityRuntime, _ keys: some Collection<ObjectKey>) {
        following?.wrote(entity, keys, at: now)
    }
}

extension RowNotes {
    /// Applies the notes on a row after a time to its object, which was just made.
    func tell(_ object: DatabaseObject, _ key: ObjectKey, since time: ContextTime = .never) {
        if let newer = newerRow(object.runtime, key), newer.changedAt > time {
            object.withState { $0.show(newer) }
        }
        if isDeleting(object.runtime, key) { object.markDeleting() }
    }
}
