import KindredPostgres
import KindredSchema
import Synchronization

// All that a writer says goes into the log here.
extension ContextCore {
    /// Appends a change.
    func append(_ event: ChangeLog.Event, by origin: ChangeOrigin = .written) {
        append(CollectionOfOne(event), by: origin)
    }

    /// Appends changes, at one time.
    func append(_ events: some Collection<ChangeLog.Event>, by origin: ChangeOrigin = .written) {
        if events.isEmpty { return }
        journal?.touch(self)
        let scope = writing?.scope
        withMap { append(events, by: origin, in: scope, to: &$0) }
    }

    /// The time is taken under the map's lock, as readers take theirs, so that an earlier reader sees the change next
    /// time.
    private func append(
        _ events: some Collection<ChangeLog.Event>, by origin: ChangeOrigin, in scope: TransactionScope?,
        to map: inout IdentityMap
    ) {
        let time = tick()
        var (hasAppended, wasCut) = (false, false)
        for event in events {
            var isFormerKeyFree = true
            if case .row(let change, _) = event {
                if let former = change.formerKey { isFormerKeyFree = map.object(change.entity, former) == nil }
                // A new row is missing only in answers that were asked for.
                // Beside a transaction, answers count as older than its rows: see ``TransactionTimes``.
                if change.isBeforeKnown, change.before == nil, !map.log.mayLack(newRowsOf: change.entity),
                    scope == nil || !map.knowsAny(linkedTo: change.entity)
                {
                    continue
                }
            }
            let entry = ChangeLog.Entry(
                event: event, at: time, askedAt: origin.askedAt, scope: scope, isByOthers: origin.isByOthers,
                isFormerKeyFree: isFormerKeyFree)
            if map.log.append(entry) { wasCut = true }
            hasAppended = true
        }
        guard hasAppended else { return }
        changedAt.store(time, ordering: .releasing)
        following?.changed(at: time)
        if wasCut { following?.mustCheck(at: time) }
    }

    /// Appends a row that a query has shown, while the map is being changed.
    func append(_ event: ChangeLog.Event, readAt askedAt: ContextTime, to map: inout IdentityMap) {
        append(CollectionOfOne(event), by: .read(askedAt), in: writing?.scope, to: &map)
    }

    /// Changes the log, at a new time.
    func atNewTime(_ body: (inout ChangeLog, ContextTime) -> Void) {
        journal?.touch(self)
        withMap { map in
            let time = tick()
            body(&map.log, time)
            changedAt.store(time, ordering: .releasing)
            following?.changed(at: time)
        }
    }

    /// Tells that the context has written rows, or deleted them: another client may have changed them before the answer
    /// came.
    func wrote(_ entity: EntityRuntime, _ keys: some Collection<ObjectKey>) {
        following?.wrote(entity, keys, at: now)
    }

    /// Takes that a transaction or savepoint was rolled back, or that unknown rows have changed: relationships are shown anew
    /// from their answers.
    func takeRollback() { atNewTime { _, _ in _ = undone.add(1, ordering: .acquiringAndReleasing) } }

    // MARK: Views

    // Views, and tables from which others inherit, show the rows of other tables as objects of their own. How a write through
    // one affects the other is unknown.

    /// The gaps in the other tables that show the rows of an entity, after a write of such rows.
    private func gaps(besides entity: EntityRuntime) -> [ChangeLog.Event] {
        entity.shownEntities.map { .gap(RowGap(.everything, of: runtime.entities[$0])) }
    }

    /// Takes a write through a view, or a table in a line of inheritance, for the other tables of its rows.
    func appendWriteThrough(_ entity: EntityRuntime, by origin: ChangeOrigin = .written) {
        if !entity.shownEntities.isEmpty { append(gaps(besides: entity), by: origin) }
    }

    /// Takes a write, which views may show: answers about their relationships are stale.
    func appendWriteUnderViews() {
        guard runtime.hasViewRelationships else { return }
        atNewTime { log, time in log.appendWriteThroughViews(at: time) }
    }

    // MARK: Pairs

    /// The ends of a pair of two objects.
    func pair(
        _ source: DatabaseObject, _ destination: DatabaseObject, in relationship: RelationshipRuntime, isPaired: Bool?,
        formerly former: (source: ObjectKey?, destination: ObjectKey?) = (nil, nil)
    ) -> ChangeLog.Event? {
        func end(
            _ object: DatabaseObject, _ relationship: RelationshipRuntime, former: ObjectKey?
        ) -> ChangeLog.PairEnds.End? {
            object.key.map { key in
                ChangeLog.PairEnds.End(
                    keys: ownKeys(relationship, object), key: key, former: former, row: object.storedRow)
            }
        }
        guard let source = end(source, relationship, former: former.source),
            let destination = end(destination, relationship.inverse, former: former.destination)
        else { return nil }
        return .pair(
            ChangeLog.PairEnds(
                relationship: relationship, source: source, destination: destination, isPaired: isPaired))
    }

    /// The pairs that a helper's row names, as far as the rows at their ends are known, and gaps at the other owners.
    ///
    /// - Parameter isPaired: whether the row is there, and shown; false for a row that went.
    func pairs(in row: Row, of helper: EntityRuntime, isPaired: Bool) -> [ChangeLog.Event] {
        helper.helperEnds.compactMap { relationship in
            guard let owner = try? ObjectKey(row, relationship.linkColumns) else { return nil }
            guard let member = pairedEnd(of: relationship, in: row, isPaired: isPaired) else {
                return .gap(RowGap(membersIn: relationship, of: owner))
            }
            // Each end is told for itself: the row of the other may be unknown.
            let source = ChangeLog.PairEnds.End(keys: [owner], key: owner)
            return .pair(
                ChangeLog.PairEnds(
                    relationship: relationship, source: source, destination: member, isPaired: isPaired))
        }
    }

    /// The end of a pair to which a relationship leads; nil where its row is needed and not known.
    private func pairedEnd(
        of relationship: RelationshipRuntime, in row: Row, isPaired: Bool
    ) -> ChangeLog.PairEnds.End? {
        let (entity, columns) = (relationship.destination, relationship.inverse.linkColumns)
        guard !relationship.isComparedByServer, relationship.position == nil || !isPaired,
            let order = entity.keyOrder(of: relationship.otherColumns),
            let found = try? ObjectKey(row, order.map { columns[$0] })
        else { return nil }
        let key = entity.identity(found)
        guard isPaired else { return ChangeLog.PairEnds.End(keys: [], key: key) }
        let row = liveObject(entity, key)?.storedRow ?? withMap { $0.log.row(entity, key)?.row }
        return row.map { ChangeLog.PairEnds.End(keys: [], key: key, row: $0) }
    }

    // MARK: Staged changes

    /// Appends a staged change of an object, for the owners to which it refers.
    func append(
        staged object: DatabaseObject, _ key: @autoclosure () -> ObjectKey?, from old: RowLinks, to new: RowLinks
    ) {
        guard let ends = stagedEnds(of: object.runtime, from: old, to: new), let key = key() else { return }
        append(.staged(key, object.runtime, ends: ends))
    }

    /// Appends a pair that was staged, or is not staged any more.
    ///
    /// - Parameter former: the previous keys of both objects, by which the other ends know them.
    func append(staged pair: StagedPair, formerly former: (source: ObjectKey?, destination: ObjectKey?) = (nil, nil)) {
        let event = self.pair(pair.source, pair.destination, in: pair.relationship, isPaired: nil, formerly: former)
        if let event { append(event) }
    }

    /// The owners to which a row with staged changes refers, or has referred; nil if none are concerned.
    ///
    /// - Parameter isRekeyed: whether the row has got another key, by which each owner has to know it.
    func stagedEnds(
        of entity: EntityRuntime, from old: RowLinks, to new: RowLinks, isRekeyed: Bool = false
    ) -> ChangeLog.StagedEnds? {
        if old.isShownAsStored, new.isShownAsStored { return nil }
        var slots = entity.moves(from: old.stored, to: new.stored).union(entity.moves(from: old.shown, to: new.shown))
        if !old.isShownAsStored { for slot in old.destinations.keys { slots.insert(slot) } }
        if !new.isShownAsStored { for slot in new.destinations.keys { slots.insert(slot) } }
        if isRekeyed { for relationship in entity.foreignKeys { slots.insert(relationship.slot) } }
        if slots.isEmpty { return nil }
        var ends: ChangeLog.StagedEnds = [:]
        for slot in slots {
            let relationship = entity.relationships[slot]
            let columns = relationship.ownColumns
            ends[slot] = Set(
                [old.stored, old.shown, new.stored, new.shown].compactMap { try? ObjectKey($0, columns) }
                    + [old, new].compactMap { $0.destinations[slot] }.flatMap { ownKeys(relationship.inverse, $0) })
        }
        return ends
    }

    // MARK: Keys of owners

    /// The keys by which the other end of a relationship refers to an object: a new object has its temporary one, too.
    func ownKeys(_ relationship: RelationshipRuntime, _ object: DatabaseObject) -> [ObjectKey] {
        let (row, temporary) = object.withState { ($0.storedRow, $0.stagingBox?.staging.temporaryKey) }
        guard let temporary else {
            return (try? relationship.ownKey(row)).flatMap { $0 }.map { [$0] } ?? []
        }
        let given = try? relationship.ownKey(object.row)
        return [.temporary(temporary)] + (given.flatMap { $0 }.map { [$0] } ?? [])
    }
}
