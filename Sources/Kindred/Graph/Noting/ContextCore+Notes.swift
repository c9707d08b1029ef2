import KindredPostgres
import Synchronization

extension ContextCore {
    /// Notes a change of rows or relationships, at a new time.
    ///
    /// The time is taken under the map's lock, as readers take theirs, so that an earlier reader sees the note next
    /// time.
    func note<T: Sendable>(_ body: (inout IdentityMap, ContextTime) -> T) -> T {
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
        let (before, time) = note { map, time in (map.notes.noteLostRows(entity, at: time, areStale: areStale), time) }
        writing?.recordLostRows(before, entity, at: time, in: self)
        notePartsLost(entity)
        noteWrittenThrough(entity)
    }

    /// Called when a transaction or savepoint was rolled back, or other clients have changed unknown rows:
    /// relationships are rebuilt from their answers.
    func noteUndone() {
        note { _, _ in _ = undone.add(1, ordering: .acquiringAndReleasing) }
    }

    /// Evicts all notes: everything read before is stale.
    func forgetAllNotes() {
        for entity in runtime.entities where withMap({ $0.knows(entity) }) {
            note { map, time in map.notes.forgetNotes(of: entity, at: time) }
        }
        noteAllParts()
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

    /// Notes new objects of an answer, which may be older than changes that have been left out.
    func noteArrival(_ objects: [DatabaseObject], of entity: EntityRuntime, askedAt: ContextTime) {
        guard let following, following.hasLeftOut(entity, since: askedAt) else { return }
        following.arrived(objects.compactMap(\.key), of: entity, at: now)
    }
}
