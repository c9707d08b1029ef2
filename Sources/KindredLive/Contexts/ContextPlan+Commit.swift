import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

// Gives a context the results of a step, once nothing can take them back.
extension ContextPlan {
    /// Rows that the context may have changed since the snapshot, so that the later change is unknown.
    private struct Doubt {
        var rows: [EntityRuntime: Set<ObjectKey>] = [:]
        /// Owners whose relationships are left as they are.
        var owners: [RelationshipRuntime: Set<ObjectKey>] = [:]
        var counts: [RelationshipRuntime: Set<ObjectKey>] = [:]

        var isAboutRelationships: Bool { !owners.isEmpty || !counts.isEmpty }
    }

    /// Throws for a row that the model cannot hold.
    func commit() throws { try ChangeFollowing.$isTakingChanges.withValue(true) { try apply() } }

    private func apply() throws {
        var (doubt, start) = changedMeanwhile()
        try takeRows(&doubt)
        if !answers.isEmpty, try !keepAnswers(since: start, doubt) { doubt.owners = ownerKeys.mapValues { Set($0) } }
        if !numbers.isEmpty, !keepCounts(since: start, doubt) { doubt.counts = counts.mapValues { Set($0) } }
        doubtOwners(&doubt)
        finish(doubt)
    }

    /// The relationships and counts that the context itself has changed since the snapshot, and the time of this.
    private func changedMeanwhile() -> (Doubt, ContextTime) {
        let askedAt = core.counted(askedAt)
        let held = owners.filter { $0.key.holdsForeignKey }.mapValues { owners in
            owners.filter { owner in owner.object.withState { $0.seenAt > askedAt } }.map(\.key)
        }
        return core.withMap { map in
            var doubt = Doubt()
            for (relationship, keys) in held where !keys.isEmpty { doubt.owners[relationship] = Set(keys) }
            for (relationship, owners) in owners where !relationship.holdsForeignKey {
                let changed = owners.filter { map.log.changedAt(relationship, $0.key) > askedAt }
                if !changed.isEmpty { doubt.owners[relationship] = Set(changed.map(\.key)) }
            }
            for (relationship, keys) in counts {
                let changed = keys.filter { map.log.changedAt(relationship, $0) > askedAt }
                if !changed.isEmpty { doubt.counts[relationship] = Set(changed) }
            }
            return (doubt, core.now)
        }
    }

    /// Takes rows and deletions; rows that the plan does not name become stale.
    private func takeRows(_ doubt: inout Doubt) throws {
        for (entity, wanted) in keys.sorted(by: { $0.key < $1.key }) where !wanted.isEmpty {
            let found = rows[entity] ?? [:]
            let changes = wanted.map { key in
                guard let row = found[key] else { return RowChange(deleted: key, of: entity) }
                // A new row may have moved, too: since it came, and read before that.
                let hasMoved = unmoved[entity]?.contains(key) != true
                return RowChange(written: row, of: entity, key: key, hasMoved: hasMoved)
            }
            let left = try core.take(changes, by: .committed(askedAt))
            if !left.isEmpty { doubt.rows[entity] = Set(left.compactMap(\.key)) }
        }
        for entity in lost {
            core.take(RowGap(.everything, of: entity), by: .committed(askedAt))
            // Objects that came while the step ran may be older.
            let known = keys[entity] ?? []
            let others = core.withMap { $0.objects(of: entity) }.filter { !$0.isInserted }.compactMap(\.key)
            let late = others.filter { !known.contains($0) }
            if !late.isEmpty { doubt.rows[entity, default: []].formUnion(late) }
        }
        for entity in leftOut { core.take(RowGap(.ofParts, of: entity), by: .committed(askedAt)) }
        for relationship in stale {
            core.take(RowGap(membersIn: relationship, of: nil), by: .committed(askedAt))
        }
    }

    /// The time of answers, later than all changes so far; nil if the context has changed anything itself since a time.
    private func answerTime(since start: ContextTime) -> ContextTime? {
        core.withMap { _ in following.hasChanged(since: start) ? nil : core.tick() }
    }

    /// Gives objects the relationships that were read; false if the context has changed anything meanwhile.
    private func keepAnswers(since start: ContextTime, _ doubt: Doubt) throws -> Bool {
        guard let time = answerTime(since: start) else { return false }
        for (relationship, answer) in answers.sorted(by: { $0.key < $1.key }) {
            let batch = answer.build(askedAt: time, in: nil)
            try core.take(batch, of: relationship.destination)
            for (object, key) in owners[relationship] ?? [] where doubt.owners[relationship]?.contains(key) != true {
                guard let loaded = batch.loaded(relationship, of: key) else { continue }
                core.keep(loaded, relationship, of: object)
            }
        }
        return true
    }

    private func keepCounts(since start: ContextTime, _ doubt: Doubt) -> Bool {
        guard let time = answerTime(since: start) else { return false }
        following.withState { state in
            for (relationship, numbers) in numbers {
                for (key, number) in numbers where doubt.counts[relationship]?.contains(key) != true {
                    guard let owner = state.counts[relationship]?[key]?.owner else { continue }
                    state.counts[relationship]?[key] = ChangeFollowing.Count(
                        owner: owner, number: number, askedAt: time)
                }
            }
        }
        return true
    }

    /// Has rows asked for again whose to-one ends this step has not read: an end that was NULL has nothing in memory that could be
    /// found to be stale.
    private func doubtOwners(_ doubt: inout Doubt) {
        for (relationship, owners) in owners where relationship.holdsForeignKey {
            let left = owners.filter { doubt.owners[relationship]?.contains($0.key) == true }
            if !left.isEmpty { doubt.rows[relationship.source, default: []].formUnion(left.compactMap(\.object.key)) }
        }
        // Followed since the step was planned, perhaps while it was NULL.
        let new = following.withState { $0.relationships }.subtracting(loaded.relationships)
        for relationship in new where relationship.holdsForeignKey {
            let changed = (keys[relationship.source] ?? []).filter { rows[relationship.source]?[$0] != nil }
            if !changed.isEmpty { doubt.rows[relationship.source, default: []].formUnion(changed) }
        }
    }

    /// Remembers the rows and answers that must still be asked for.
    private func finish(_ doubt: Doubt) {
        // Without overlaps only rows that were read have become stale. Tables in a line of inheritance show the same
        // rows.
        let overlaps = keys.keys.contains { !$0.shownEntities.isEmpty }
        // Taken before the check for new changes: later changes by the context are not in the stamp.
        let present = core.changeStamp
        let isQuiet = lost.isEmpty && stamp == loaded.checked && !overlaps && !following.hasChanged(since: askedAt)
        let (now, checked) = (core.tick(), isQuiet ? present : stamp)
        following.withState { state in
            for (entity, keys) in keys {
                for key in keys where state.doubtful[entity]?[key].map({ $0 <= askedAt }) == true {
                    state.doubtful[entity]?[key] = nil
                }
                if state.doubtful[entity]?.isEmpty == true { state.doubtful[entity] = nil }
            }
            for (entity, keys) in doubt.rows {
                for key in keys { state.doubtful[entity, default: [:]][key] = now }
            }
            for entity in leftOut { state.leftOut[entity] = now }
            if state.reloads == loaded.reloads { state.reloads = 0 }
            state.checked = doubt.isAboutRelationships ? nil : checked
        }
    }
}
