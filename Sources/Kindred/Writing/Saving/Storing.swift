import KindredPostgres
import Synchronization

/// The part of a save that stores new and changed objects and pairs, in the order that references and unique values
/// require, and deletes in between objects whose values other objects take.
final class Storing {
    private let core: ContextCore
    private let objects: [DatabaseObject]
    private let pairs: [(pair: StagedPair, payload: ColumnValues?)]
    private let deleted: [DatabaseObject]
    private var written = Set<DatabaseObject>()
    private var released: [DatabaseObject: SavedObject] = [:]

    private struct Plan {
        let new: [DatabaseObject]
        let temporaryKeys: [Int64]
        let insertions: Insertions
        let claims: UniqueClaims
        let run: SaveRun
        let steps: [SaveSteps.Step]
        let checks: LateChecks
    }

    /// - Parameter deleted: objects to delete before other objects take their unique values, and after other objects
    ///   have left them.
    init(
        _ objects: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: ColumnValues?)],
        deleting deleted: [DatabaseObject], in core: ContextCore
    ) {
        self.objects = objects
        self.pairs = pairs
        self.deleted = deleted
        self.core = core
    }

    /// Stores all objects and pairs.
    ///
    /// Each stretch of steps up to a deletion is one write: the deletion is a write of its own.
    func run() async throws {
        try core.requireWritable()
        let plan = try await makePlan()
        var steps = plan.steps[...]
        while let place = steps.firstIndex(where: \.isDeletion) {
            let stretch = steps[...place]
            steps = steps[(place + 1)...]
            let leaving = try await core.write {
                let leaving = try await carryOut(stretch, plan)
                try await plan.run.flush()
                return leaving
            }
            try await Deleter(core).deleteStaged(leaving)
        }
        let rest = steps
        try await core.write {
            _ = try await carryOut(rest, plan)
            try await finish(plan)
        }
    }

    private func makePlan() async throws -> Plan {
        let new = objects.filter(\.isInserted)
        let temporaryKeys = new.map { object in object.withState { $0.stagingBox?.staging.temporaryKey ?? 0 } }
        let insertions = try Insertions(new)
        var claims = try UniqueClaims(objects, deleted)
        let steps =
            claims.isEmpty
            ? insertions.levels.map(SaveSteps.Step.insert) : try await claims.order(insertions, in: core)
        let checks = LateChecks(insertions.constraints, of: objects, in: core)
        try await checks.putOff()
        return Plan(
            new: new, temporaryKeys: temporaryKeys, insertions: insertions, claims: claims,
            run: SaveRun(core, claims), steps: steps, checks: checks)
    }

    /// Carries out steps that store rows; returns the objects of steps that delete.
    private func carryOut(_ steps: ArraySlice<SaveSteps.Step>, _ plan: Plan) async throws -> [DatabaseObject] {
        var leaving: [DatabaseObject] = []
        for step in steps {
            switch step {
            case .release(let exchanges):
                let released = try await release(exchanges.map { plan.claims.exchanges[$0] }, plan.run)
                self.released.merge(released) { $0.leaving($1) }
            case .insert(let objects):
                try await insert(objects, plan)
            case .update(let holders):
                // The keys of new objects that the changed objects refer to must be known.
                if !plan.new.isEmpty { try await plan.run.flush() }
                let objects = holders.map { plan.claims.objects[$0] }
                try update(objects, plan)
                written.formUnion(objects)
            case .delete(let objects):
                leaving += objects.map { plan.claims.objects[$0] }
            }
        }
        return leaving
    }

    /// Writes the other changed objects, and pairs.
    private func finish(_ plan: Plan) async throws {
        let (new, run) = (plan.new, plan.run)
        if !new.isEmpty { try await run.flush() }
        let changed = objects.filter { object in
            guard written.isEmpty || !written.contains(object) else { return false }
            return object.hasStagedChanges || released[object] != nil && !object.isDeleted
        }
        try update(changed, plan)
        for group in try SavedPairs.groups(pairs) { try run.insert(group) }
        try await run.flush()
        try await plan.checks.run()
        core.withMap { map in
            for (object, key) in zip(new, plan.temporaryKeys) {
                map.remove(object, of: object.runtime, key: .temporary(key))
            }
        }
    }

    /// Writes the staged changes of objects, and restores the columns that they released for other objects.
    private func update(_ objects: [DatabaseObject], _ plan: Plan) throws {
        var changed = try objects.map { object in
            var saved = try SavedObject(object)
            if let released = released[object] { saved.restore(released) }
            return saved
        }
        let circle = plan.claims.keyCircle
        if !circle.isEmpty {
            for group in SavedGroup.together(changed.filter { circle.contains($0.object) }) {
                try plan.run.update(group)
            }
            changed.removeAll { circle.contains($0.object) }
        }
        for group in SavedGroup.updates(changed) { try plan.run.update(group) }
    }

    /// Stores new objects that do not refer to each other, or that one statement must store.
    private func insert(_ positions: [Int], _ plan: Plan) async throws {
        let insertions = plan.insertions
        let (objects, links) = (insertions.objects, insertions.references.links)
        for position in links.isEmpty ? [] : positions {
            for (slot, destination) in links[position] where insertions.deferred[position]?.contains(slot) != true {
                try await plan.run.requireKnown(
                    destination, objects[position].runtime.relationships[slot].otherColumns)
            }
        }
        let saved = try positions.map { position in
            try SavedObject(
                objects[position], links: links.isEmpty ? [:] : links[position],
                deferring: insertions.deferred[position] ?? [])
        }
        let isJoint = positions.first.map(insertions.joint.contains) == true
        for group in isJoint ? SavedGroup.together(saved) : SavedGroup.insertions(saved) {
            try plan.run.insert(group)
        }
    }

    /// Sets unique values to NULL before their holders' own change: one UPDATE for each set of columns.
    ///
    /// Returns the objects as they were, with the columns to restore.
    private func release(_ exchanges: [UniqueClaims.Exchange], _ run: SaveRun) async throws -> [DatabaseObject:
        SavedObject]
    {
        var leaving: [SavedObject] = []
        var places: [DatabaseObject: Int] = [:]
        for exchange in exchanges {
            let object = exchange.holder
            guard let columns = UniqueClaims.releasableColumns(of: object.runtime, among: exchange.check.columns) else {
                continue
            }
            // Releases an unchanged column, such as the room of a lesson whose hour changes, only if no other can be.
            let (row, stored) = object.withState { ($0.row, $0.storedRow) }
            let changing = columns.filter { !row.hasSameBytes(as: stored, at: $0) }
            let released = SavedObject(object, leaving: changing.isEmpty ? columns : changing)
            if let place = places[object] {
                leaving[place] = leaving[place].leaving(released)
            } else {
                places[object] = leaving.count
                leaving.append(released)
            }
        }
        var isVersioned = false
        for group in SavedGroup.groups(leaving, columns: \.columns) {
            if group.entity.version != nil { isVersioned = true }
            try run.release(group)
        }
        // Later changes of these rows expect the version that this UPDATE makes.
        if isVersioned { try await run.flush() }
        return places.mapValues { leaving[$0] }
    }
}
