import KindredPostgres

// Whether an answer in memory may be used: as it is, corrected by the log, or not.
extension ContextCore {
    // MARK: Asking

    /// Called before a question about a relationship is sent: from now on changes that concern it are looked for.
    func willAsk(_ relationship: RelationshipRuntime) { withMap { $0.log.willAsk(relationship) } }

    /// The part of a query, known from now on: to be called before the query is sent.
    func willAsk(_ query: PartQuery) -> LoadedParts.Part {
        withMap { $0.log.willAsk(query, in: runtime, at: now) }
    }

    /// Whether the task does not see the changes of a scope: another task's running transaction.
    var isHidden: (TransactionScope) -> Bool {
        let root = journal?.scope.root
        return { $0.root !== root && $0.isRunning }
    }

    // MARK: Members

    /// Whether an answer, corrected by the log, is valid for an owner's relationship.
    ///
    /// - Parameter areRowsKnown: whether the rows in it have objects, which know the rows' present state.
    func isUsable(
        _ batch: Answer, in relationship: RelationshipRuntime, of owner: DatabaseObject, areRowsKnown: Bool = false
    ) -> Bool {
        if batch.isUndone { return false }
        if isQuiet(since: batch.askedAt) { return true }
        let (keys, row) = (ownKeys(relationship, owner), owner.key)
        return withMap { map in
            (areRowsKnown || map.log.staleSince(rowsOf: relationship.destination) <= batch.askedAt)
                && keys.allSatisfy { map.log.staleSince(relationship, $0) <= batch.askedAt }
                && row.map { map.log.staleSince(relationship.source, $0) <= batch.askedAt } ?? true
        }
    }

    /// Whether an answer that an owner keeps is valid for its group, which shares answers that no entry corrects.
    func isUsableByGroup(
        _ batch: Answer, in relationship: RelationshipRuntime, of owner: DatabaseObject
    ) -> Bool {
        batch.askedAt >= lostAt(relationship) && isUsable(batch, in: relationship, of: owner)
    }

    /// Whether an answer is of no transaction that was rolled back, or that another task still runs.
    func isVisible(_ batch: Answer) -> Bool {
        guard let scope = batch.scope else { return true }
        return !scope.isUndone && (!scope.isRunning || scope.root === writing?.scope.root)
    }

    /// Answers for an owner's relationship read before this time are stale.
    func staleSince(_ relationship: RelationshipRuntime, _ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        withMap { map in
            max(
                map.log.staleSince(relationship, key),
                ownKey.map { map.log.staleSince(relationship.source, $0) } ?? .never)
        }
    }

    /// The last change of an owner's relationship: counts asked for before are stale.
    package func changedAt(
        _ relationship: RelationshipRuntime, _ key: ObjectKey, ownKey: ObjectKey? = nil
    ) -> ContextTime {
        withMap { map in
            max(
                map.log.changedAt(relationship, key),
                ownKey.map { map.log.staleSince(relationship.source, $0) } ?? .never)
        }
    }

    /// The last time at which rows at a relationship's other end were lost: answers that a group shares lack it.
    func lostAt(_ relationship: RelationshipRuntime) -> ContextTime { withMap { $0.log.lostAt(relationship) } }

    // MARK: To-one ends

    /// Whether an answer still tells the row to which a foreign key leads.
    func isCurrent(_ member: Member?, _ batch: Answer, of relationship: RelationshipRuntime) -> Bool {
        if batch.isUndone { return false }
        if isQuiet(since: batch.askedAt) { return true }
        return withMap { map in
            guard map.log.staleSince(destinationOf: relationship) <= batch.askedAt else { return false }
            guard let member else { return map.log.lostAt(relationship) <= batch.askedAt }
            return !map.log.isDeleted(relationship.destination, member.key, since: batch.askedAt)
        }
    }

    /// Whether an object in memory proves that a foreign key leads to it: a view may no longer show the row.
    func mayTrustObject(of relationship: RelationshipRuntime) -> Bool {
        guard relationship.model.isByView, relationship.destination.entity.isView else { return true }
        return withMap { $0.log.viewsStaleSince } == .never
    }

    // MARK: Parts

    /// Since when answers for a part of an owner are stale.
    ///
    /// - Parameters:
    ///   - key: the key by which members refer to the owner.
    ///   - ownKey: the key of the owner's row.
    func staleSince(_ part: LoadedParts.Part, _ key: ObjectKey, ownKey: ObjectKey?) -> ContextTime {
        let relationship = part.query.relationship
        return withMap { map in
            max(
                map.log.staleSince(part, key),
                ownKey.map { map.log.staleSince(relationship.source, $0) } ?? .never)
        }
    }

    // MARK: Rows

    /// Since when answers with rows of an entity are stale.
    func staleSince(rowsOf entity: EntityRuntime) -> ContextTime { withMap { $0.log.staleSince(rowsOf: entity) } }

    /// Whether a row was deleted since a question about it.
    func isDeleted(_ entity: EntityRuntime, _ key: ObjectKey, since time: ContextTime) -> Bool {
        withMap { $0.log.isDeleted(entity, key, since: time) }
    }

    /// The rows that were deleted since a question; nil if it is not known which.
    func deletedKeys(of entity: EntityRuntime, since time: ContextTime) -> Set<ObjectKey>? {
        withMap { $0.log.deletedKeys(entity, since: time) }
    }
}
