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
        let journal = journal
        journal?.touch(self)
        let scope = journal?.writing?.scope
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
        if wasCut { following?.becameStale(at: time) }
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

    /// Tells that something in memory may have become stale without a change that the log has.
    func becomeStale() {
        withMap { map in
            map.log.becomeStale()
            following?.becameStale(at: tick())
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
        _ source: DatabaseObject, _ destination: DatabaseObject, in relationship: RelationshipRuntime, isPaired: Bool
    ) -> ChangeLog.Event? {
        func end(_ object: DatabaseObject, _ relationship: RelationshipRuntime) -> ChangeLog.PairEnds.End? {
            object.key.map { key in
                ChangeLog.PairEnds.End(keys: ownKeys(relationship, object), key: key, row: object.storedRow)
            }
        }
        guard let source = end(source, relationship), let destination = end(destination, relationship.inverse) else {
            return nil
        }
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

    // MARK: Keys of owners

    /// The keys by which stored rows at the other end of a relationship refer to an object: none to a new one.
    func ownKeys(_ relationship: RelationshipRuntime, _ object: DatabaseObject) -> [ObjectKey] {
        if object.isInserted { return [] }
        return (try? relationship.ownKey(object.storedRow)).flatMap { $0 }.map { [$0] } ?? []
    }
}
