import KindredPostgres

// The doors for rows that come in without an object of their own: written ones, and those of a relationship's answer.
extension ContextCore {
    /// A relationship of an owner.
    struct OwnerEnd {
        let owner: DatabaseObject
        let relationship: RelationshipRuntime
    }

    /// Takes a row that a statement of this context has written, and that may have no object.
    ///
    /// It goes to the object, or else is kept, newer than in loaded relationships; the owners that it refers to or has
    /// left are noted.
    ///
    /// - Parameters:
    ///   - known: the row's object, where its key has changed.
    ///   - end: the owner that the statement was about, which the row has joined or left.
    func accept(
        _ row: Row, of entity: EntityRuntime, object known: DatabaseObject? = nil, at end: OwnerEnd? = nil
    ) throws {
        guard let key = try ObjectKey(row, entity.key) else { return }
        if let object = known ?? liveObject(entity, key) { return try apply(row, to: object) }
        let before = note { map, time in
            let before = map.notes.newerRow(entity, key)
            map.notes.setNewerRow(NewerRow(row: row, changedAt: time), entity, key)
            return before
        }
        writing?.recordNewerRow(before, entity, key, in: self)
        noteRow(row, of: entity, key)
        guard let end else { return }
        let entry = RelationshipLog.Entry(member: key, row: row, scope: writing?.scope)
        note(entry, in: end.relationship, of: ownKeys(end.relationship, end.owner))
    }

    /// Takes the rows of a relationship's answer: they replace older notes, and refresh objects where these are stale.
    func accept(_ batch: LoadedBatch, of entity: EntityRuntime) throws {
        let replaced = withMap { map -> [(key: ObjectKey, newer: NewerRow)] in
            guard map.notes.hasNotes(entity) else { return [] }
            return batch.rows.compactMap { member in
                map.notes.noteRead(member.row, entity, member.key, askedAt: batch.askedAt).map { (member.key, $0) }
            }
        }
        for (key, newer) in replaced { writing?.recordNewerRow(newer, entity, key, in: self) }
        // Where views and tables share rows, every object may be.
        let isShared = entity.sharesRows && (runtime.hasViewRelationships || runtime.hasInheritance)
        guard isShared || undoCount > 0, !entity.key.isEmpty else { return }
        for member in batch.rows {
            guard let object = liveObject(entity, member.key), isShared || object.isStale else { continue }
            try apply(member.row, to: object, askedAt: batch.askedAt)
        }
    }
}
