import KindredPostgres

/// Notes on an entity's rows without knowing which.
struct LostRows: Sendable {
    /// The time of the last deletion of rows without objects: counts, and answers that a group shares, lack it.
    ///
    /// Apart from `staleSince`, because the answers that owners keep are corrected by key: after such a deletion they are
    /// shown without a statement, and a rollback leaves them valid.
    var lostAt: ContextTime = .never
    /// The last time at which rows may have changed otherwise: every earlier answer with rows of the entity is stale.
    var staleSince: ContextTime = .never
}

// An answer asked at t is valid for a scope (a row, an owner's relationship, an entity, everything) unless that scope,
// or one around it, has a `staleSince` later than t. Changes that notes can correct make no answer stale: a log's
// entries, deleted rows, newer rows.
extension RowNotes {
    /// Since when answers with rows of an entity are stale.
    func staleSince(rowsOf entity: EntityRuntime) -> ContextTime {
        guard isNoted, let place = tables.place(entity.index) else { return .never }
        return max(tables[place].staleSince, tables[place].lostRows.staleSince)
    }

    /// Since when answers with rows at a relationship's other end are stale.
    func staleSince(destinationOf relationship: RelationshipRuntime) -> ContextTime {
        if !isNoted { return .never }
        let time = staleSince(rowsOf: relationship.destination)
        return relationship.model.isByView ? max(time, viewsStaleSince) : time
    }

    /// Whether an answer for an owner's relationship is valid.
    ///
    /// - Parameters:
    ///   - keys: the keys by which the other end refers to the owner.
    ///   - row: the key of the owner's row.
    ///   - areRowsKnown: whether the rows in it have objects, which know the rows' present state.
    func isValid(
        askedAt: ContextTime, _ relationship: RelationshipRuntime, of keys: [ObjectKey], row: ObjectKey?,
        areRowsKnown: Bool = false
    ) -> Bool {
        if !isNoted { return true }
        return (areRowsKnown || staleSince(rowsOf: relationship.destination) <= askedAt)
            && keys.allSatisfy { staleSince(relationship, $0) <= askedAt }
            && row.map { staleSince(relationship.source, $0) <= askedAt } ?? true
    }

    /// Since when answers for an owner's relationship are stale, apart from notes on the rows in them.
    func staleSince(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !isNoted { return .never }
        var time = tables.place(relationship.destination.index).map { tables[$0].staleSince } ?? .never
        if relationship.model.isByView { time = max(time, viewsStaleSince) }
        // A pair is gone without a note at its ends.
        if let helper = relationship.helper { time = max(time, lostAt(helper.entity)) }
        guard let place = tables.place(relationship.source.index) else { return time }
        time = max(time, tables[place].staleSince)
        return max(time, tables[place].logs[relationship.slot]?.staleSince(owner) ?? .never)
    }

    /// Since when answers for every relationship of a row are stale.
    func staleSince(_ entity: EntityRuntime, _ key: ObjectKey) -> ContextTime {
        read(entity, orNone: .never) { $0.staleRows.isEmpty ? .never : $0.staleRows[key] ?? .never }
    }

    /// The last change in an owner's relationship or at its other end: counts, which no note corrects, are stale before.
    func changedAt(_ relationship: RelationshipRuntime, _ owner: ObjectKey) -> ContextTime {
        if !isNoted { return .never }
        let leftAt = tables.place(relationship.destination.index).map { tables[$0].leftAt } ?? .never
        let time = max(lostAt(relationship), leftAt, staleSince(relationship, owner))
        guard let place = tables.place(relationship.source.index) else { return time }
        return max(time, tables[place].logs[relationship.slot]?.changedAt(owner) ?? .never)
    }

    /// The last time at which rows at a relationship's other end, or in its helper, were lost.
    func lostAt(_ relationship: RelationshipRuntime) -> ContextTime {
        if !isNoted { return .never }
        let time = lostAt(relationship.destination)
        guard let helper = relationship.helper else { return time }
        return max(time, lostAt(helper.entity))
    }

    private func lostAt(_ entity: EntityRuntime) -> ContextTime {
        tables.place(entity.index).map { tables[$0].lostRows.lostAt } ?? .never
    }

    /// Notes that rows of an entity are gone, or may have changed too (`areStale`); returns the note before.
    mutating func noteLostRows(_ entity: EntityRuntime, at time: ContextTime, areStale: Bool = false) -> LostRows {
        let place = placeToNote(entity)
        countStale()
        let before = tables[place].lostRows
        tables[place].lostRows = LostRows(lostAt: time, staleSince: areStale ? time : before.staleSince)
        return before
    }

    /// Takes back a note of lost rows, unless a later note was made.
    mutating func undoLostRows(_ entity: EntityRuntime, at time: ContextTime, _ before: LostRows) {
        let place = placeToNote(entity)
        if tables[place].lostRows.lostAt == time { tables[place].lostRows = before }
    }
}
