import KindredPostgres
import KindredSchema

/// Reads the rows of known objects again: on request, to lock them, and where a failed transaction may have undone them.
package struct Refresher: Sendable {
    private let core: ContextCore

    package init(_ core: ContextCore) { self.core = core }

    /// Reads an object again; its loaded relationships become stale.
    func refresh(_ object: DatabaseObject) async throws {
        try object.requireLive()
        let key = try object.requireReadKey()
        core.takeUnknownRelationships(of: object)
        guard try await Fetcher(core).fetch(object.runtime, key) === object else {
            try core.take(deletionOf: object)
            throw try core.lost([object])
        }
        object.withState { $0.accept(readAgain: object.runtime) }
    }

    /// Locks an object's row, and reads it again.
    package func lock(_ object: DatabaseObject, _ lock: RowLock, waiting: RowLock.Waiting) async throws {
        try object.requireLive()
        try core.client.requireTransaction()
        let key = try object.requireKey()
        let entity = object.runtime
        let askedAt = core.now
        let result = try await core.client.execute(
            try KeyStatements(entity: entity).select(byKey: key, lock: lock, waiting: waiting), for: entity.name)
        if result.count == 1 {
            try core.take(EntityRows(result, of: entity)[0], for: object, readAt: askedAt)
            return object.withState { $0.accept(readAgain: entity) }
        }
        guard waiting != .skipLocked else {
            throw KindredError(
                .notFound, "\(object) is locked by another transaction, or deleted", entity: entity.name.description)
        }
        try core.take(deletionOf: object)
        throw try core.lost([object])
    }

    /// The error for rows that a write did not find: they are gone, or changed since they were read.
    ///
    /// One SELECT for each entity with optimistic locking, to read the current versions; one for each other entity if
    /// not all of its objects need be concerned, or if its triggers may have kept rows as they are; none otherwise.
    ///
    /// - Parameter areAll: whether the write did not find any of the rows.
    func unwritten(_ objects: [DatabaseObject], areAll: Bool = false) async throws -> KindredError {
        var conflicts: [KindredError.Conflict] = []
        var missing: [DatabaseObject] = []
        var lost: [DatabaseObject] = []
        var kept: [DatabaseObject] = []
        for (entity, objects) in grouped(objects) {
            guard let version = entity.version else {
                var gone = objects
                let mayBeThere = !areAll && objects.count > 1 || entity.entity.obstacles.contains(.updateTriggers)
                if mayBeThere, entity.showsAllRows {
                    let rows = try await currentRows(of: objects, entity)
                    gone = objects.filter { $0.key.map { rows[$0] == nil } ?? true }
                    if gone.isEmpty { kept += objects }
                }
                lost += gone
                missing += gone
                continue
            }
            let rows = try await currentRows(of: objects, entity)
            for object in objects {
                guard let row = try rows[object.requireKey()] else {
                    missing.append(object)
                    lost.append(object)
                    continue
                }
                let base = object.withState { $0.stagingBox?.staging.base ?? $0.storedRow }
                guard !base.hasSameBytes(as: row, at: version.position) else {
                    kept.append(object)
                    continue
                }
                let changed = entity.attributeColumns.filter {
                    $0 != version.position && !base.isLeftOut(at: $0) && !row.isLeftOut(at: $0)
                        && !base.hasSameBytes(as: row, at: $0)
                }
                conflicts.append(
                    KindredError.Conflict(
                        object: object,
                        version: try base[version.position],
                        databaseVersion: try row[version.position],
                        changedKeys: changed.map { entity.entity.attributes[$0].name }
                    ))
            }
        }
        let gone = missing.isEmpty ? nil : core.gone(missing)
        try core.take(missing: lost)
        if !conflicts.isEmpty { return KindredError(stale: conflicts) }
        return gone ?? refusedByTrigger(kept)
    }

    /// Throws unless a deletion missed one row only and the row has no newer version: that row is gone or hidden.
    func requireAlone(_ objects: [DatabaseObject]) async throws {
        guard objects.count > 1 || objects.contains(where: { $0.runtime.version != nil }) else { return }
        let error = try await unwritten(objects)
        guard objects.count == 1, error.code == .objectDeleted else { throw error }
    }

    /// Locks objects' rows and reads them again, as the base of changes: one SELECT for each entity.
    ///
    /// `isDeleted` is true for objects whose rows are gone.
    func refreshAndLock(_ objects: [DatabaseObject]) async throws {
        try await refresh(objects, isLocked: true)
    }

    /// Reads the rows of all objects in memory again: one SELECT for each entity.
    ///
    /// Objects that may show uncommitted rows of another task's transaction stay as they are.
    func refreshAll() async throws {
        try core.requireWritable()
        let objects = core.runtime.entities.flatMap { core.references.objects(of: $0) }
        let uncommitted = core.journals.others(than: core.journal).reduce(into: Set()) {
            $0.formUnion($1.uncommittedObjects)
        }
        try await refresh(objects.filter { !uncommitted.contains($0) }, isLocked: false)
    }

    private func refresh(_ objects: [DatabaseObject], isLocked: Bool) async throws {
        for object in try await readAgain(objects, isLocked: isLocked, isOnRequest: true) {
            object.withState { $0.accept(readAgain: object.runtime) }
        }
    }

    /// Reads rows again that a failed transaction may have undone, before they are used: one SELECT for each entity.
    ///
    /// `isDeleted` is true for objects whose rows are gone. Other stale objects of the entities are read with them, so
    /// that a loop over many sends few statements.
    func readStale(_ objects: some Collection<DatabaseObject>) async throws {
        // Nearly always nothing was ever undone.
        guard core.undoCount > 0, objects.contains(where: \.isStale) else { return }
        for (entity, stale) in grouped(objects.filter(\.isStale)) {
            let others = core.loading == .batch ? core.withMap { $0.objects(of: entity) }.lazy.filter(\.isStale) : nil
            try await readAgain(stale + (others?.prefix(FetchGroup.wholeGroup).map(\.self) ?? []))
        }
    }

    /// The object's state to follow a relationship from; a stale row is read again first.
    func source(of relationship: RelationshipRuntime, from object: DatabaseObject) async throws -> LinkSource {
        let source = LinkSource(object, relationship)
        guard source.isStale else { return source }
        try await readStale(CollectionOfOne(object))
        return LinkSource(object, relationship)
    }

    /// Reads objects' rows again: one SELECT for each entity; returns the objects found.
    ///
    /// `isDeleted` is true for objects whose rows are gone. Staged changes stay, based on the former rows.
    ///
    /// - Parameters:
    ///   - isLocked: whether rows are locked.
    ///   - isOnRequest: whether relationships are dropped.
    @discardableResult
    private func readAgain(
        _ objects: [DatabaseObject], isLocked: Bool = false, isOnRequest: Bool = false
    ) async throws -> [DatabaseObject] {
        var found: [DatabaseObject] = []
        let live = objects.filter { object in
            !object.isGone && !object.isInserted && object.key != nil && !object.runtime.key.isEmpty
        }
        for (entity, objects) in grouped(live) {
            // Before the time of the question, so that columns loaded earlier are older than the rows.
            if isOnRequest { objects.forEach(core.takeUnknownRelationships) }
            let askedAt = core.now
            let rows = try await currentRows(of: objects, entity, isLocked: isLocked)
            for object in objects {
                guard let key = object.key, let row = rows[key] else {
                    try core.take(deletionOf: object)
                    continue
                }
                // Again: while the lock was waited for, other tasks may have loaded relationships.
                if isLocked { core.takeUnknownRelationships(of: object) }
                try core.take(row, for: object, readAt: askedAt)
                found.append(object)
            }
        }
        return found
    }

    /// The current rows in the database, by key.
    private func currentRows(
        of objects: [DatabaseObject],
        _ entity: EntityRuntime,
        isLocked: Bool = false
    ) async throws -> [ObjectKey: Row] {
        // The statement must work for views that cannot be written, too.
        let batch = try entity.slices(objects.compactMap(\.key), of: entity.key).map {
            try DeletionStatements.rows(entity, $0, columns: Array(entity.attributeColumns), isLocked: isLocked)
        }
        return try await core.client.rows(batch, entity)
    }

    private func refusedByTrigger(_ objects: [DatabaseObject]) -> KindredError {
        let entity = objects[0].runtime.name
        let what = objects.count == 1 ? "\(objects[0])" : "\(objects.count) objects of \(entity)"
        return KindredError(
            .constraintViolation,
            "A trigger, rule or policy kept \(what) from being written; nothing was written",
            entity: entity.description
        )
    }
}
