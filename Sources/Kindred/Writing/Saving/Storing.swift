import KindredPostgres
import KindredSchema
import Synchronization

/// The part of a save that stores new and changed objects and pairs, in the order that references and unique values
/// require.
///
/// It stops where objects must be deleted before it can go on, because a deletion takes a turn of its own.
final class Storing {
    private let context: DatabaseContext
    private let objects: [DatabaseObject]
    private let pairs: [(pair: StagedPair, payload: ColumnValues?)]
    private let deleted: [DatabaseObject]
    private var plan: Plan?
    private var written = Set<DatabaseObject>()
    private var released: [DatabaseObject: SavedObject] = [:]

    private struct Plan {
        let new: [DatabaseObject]
        let temporaryKeys: [Int64]
        let insertions: Insertions
        let claims: UniqueClaims
        let run: SaveRun
        var steps: ArraySlice<SaveSteps.Step>
    }

    /// - Parameter deleted: objects to delete before others take their unique values, and after others have left them.
    init(
        _ objects: [DatabaseObject], _ pairs: [(pair: StagedPair, payload: ColumnValues?)],
        deleting deleted: [DatabaseObject], in context: DatabaseContext
    ) {
        self.objects = objects
        self.pairs = pairs
        self.deleted = deleted
        self.context = context
    }

    /// Stores objects until some must be deleted, which it returns, or until all are stored: then it returns nil.
    func proceed() async throws -> [DatabaseObject]? {
        var plan = if let plan { plan } else { try await makePlan() }
        while let step = plan.steps.popFirst() {
            if let left = try await carryOut(step, plan) {
                self.plan = plan
                return left
            }
        }
        try await finish(plan)
        return nil
    }

    private func makePlan() async throws -> Plan {
        let new = objects.filter(\.isInserted)
        let temporaryKeys = new.map { object in object.withState { $0.stagingBox?.staging.temporaryKey ?? 0 } }
        let insertions = try Insertions(new)
        var claims = try UniqueClaims(objects, deleted)
        let steps =
            claims.isEmpty
            ? insertions.levels.map(SaveSteps.Step.insert) : try await claims.order(insertions, in: context)
        try await context.set(insertions.constraints, areDeferred: true, among: objects)
        return Plan(
            new: new, temporaryKeys: temporaryKeys, insertions: insertions, claims: claims,
            run: SaveRun(context, claims), steps: steps[...])
    }

    /// Carries out a step; returns the objects to delete, if it is a deletion.
    private func carryOut(_ step: SaveSteps.Step, _ plan: Plan) async throws -> [DatabaseObject]? {
        switch step {
        case .release(let exchanges):
            let leaving = try await context.release(exchanges.map { plan.claims.exchanges[$0] }, plan.run)
            released.merge(leaving) { $0.leaving($1) }
        case .insert(let objects):
            try await insert(objects, plan)
        case .update(let holders):
            // The keys of new objects that the changed ones refer to must be known.
            if !plan.new.isEmpty { try await plan.run.flush() }
            let objects = holders.map { plan.claims.objects[$0] }
            try update(objects, plan)
            written.formUnion(objects)
        case .delete(let objects):
            try await plan.run.flush()
            return objects.map { plan.claims.objects[$0] }
        }
        return nil
    }

    /// Writes the other changed objects, and pairs.
    private func finish(_ plan: Plan) async throws {
        let (new, run) = (plan.new, plan.run)
        if !new.isEmpty {
            try await run.flush()
            if context.core.staged.withLock(\.hasPairs) {
                let keys = zip(new, plan.temporaryKeys.map(ObjectKey.temporary))
                context.rekeyPairs(Dictionary(keys, uniquingKeysWith: { $1 }))
            }
        }
        let changed = objects.filter { object in
            guard written.isEmpty || !written.contains(object) else { return false }
            return object.hasChanges || released[object] != nil && !object.isDeleted
        }
        try update(changed, plan)
        try context.savePairs(pairs, run)
        try await run.flush()
        try await context.set(plan.insertions.constraints, areDeferred: false, among: objects)
        context.core.withMap { map in
            for (object, key) in zip(new, plan.temporaryKeys) {
                map.remove(object, object.runtime, .temporary(key))
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
        for group in SavedGroup.groups(changed, columns: \.columns) where !group.columns.isEmpty {
            try plan.run.update(group)
        }
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
}
