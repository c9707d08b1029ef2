import KindredPostgres
import Synchronization

// Notes changes that may concern loaded parts of relationships. A context that has loaded none takes one atomic load for it.
extension ContextCore {
    /// The part of a query, noted as loaded by the context: to be called before the query is sent.
    func loadedPart(_ query: PartQuery) -> LoadedParts.Part {
        hasParts.store(true, ordering: .sequentiallyConsistent)
        let part = parts.withLock { $0.part(query, in: runtime, at: now) }
        withMap { map in
            map.notes.noteKnown(query.relationship.source)
            for index in query.reads.entities { map.notes.noteKnown(runtime.entities[index]) }
        }
        return part
    }

    /// Since when answers for a part of an owner are stale.
    ///
    /// - Parameters:
    ///   - key: the key by which members refer to the owner.
    ///   - ownKey: the key of the owner's row.
    func staleSince(_ part: LoadedParts.Part, _ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        let relationship = part.query.relationship
        let noted = withMap { map in
            max(
                map.notes.changedAt(relationship, key),
                ownKey.map { map.notes.staleSince(relationship.source, $0) } ?? .never)
        }
        return max(noted, parts.withLock { $0.staleSince(part.slot, key) })
    }

    /// Notes a row that was stored (without a former row), changed, or deleted (without a new row).
    ///
    /// - Parameter askedAt: when a query was sent that has shown the change; nil for a change of now.
    func noteParts(_ entity: EntityRuntime, from old: Row?, to new: Row?, askedAt: ContextTime? = nil) {
        noteParts { $0.note(entity, from: old, to: new, at: askedAt ?? $1) }
    }

    /// Notes rows that were stored.
    func noteParts(_ entity: EntityRuntime, stored rows: [Row]) {
        noteParts { parts, time in
            for row in rows { parts.note(entity, from: nil, to: row, at: time) }
        }
    }

    /// Notes that rows of an entity have changed, unknown which.
    func notePartsLost(_ entity: EntityRuntime) { noteParts { $0.noteLost(entity, at: $1) } }

    /// Notes that rows which store a relationship have changed, unknown which.
    func notePartsLost(linksOf relationship: RelationshipRuntime) {
        noteParts { $0.noteLost(linksOf: relationship, at: $1) }
    }

    /// Notes that anything may have changed.
    func noteAllParts() { noteParts { $0.noteAll(at: $1) } }

    private func noteParts(_ note: (inout LoadedParts, ContextTime) -> Void) {
        guard hasParts.load(ordering: .sequentiallyConsistent) else { return }
        let time = tick()
        parts.withLock { note(&$0, time) }
    }
}
