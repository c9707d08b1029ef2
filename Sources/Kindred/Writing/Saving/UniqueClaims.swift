import KindredPostgres
import KindredSchema

/// The unique values of a save's objects that go from one object to another.
struct UniqueClaims {
    /// A value that one object gives up and another one takes.
    struct Exchange {
        let holder: DatabaseObject
        let taker: DatabaseObject
        let check: UniqueCheckRuntime
    }

    private struct Claim: Hashable {
        let entity: Int
        let check: Int
        let value: [ObjectKey?]
    }

    let exchanges: [Exchange]
    /// New objects, in their order, followed by the changed ones that take part in exchanges.
    private(set) var objects: [DatabaseObject] = []
    /// Exchanges that neither an order nor NULL makes possible for certain: the server may refuse them.
    private(set) var stuck: [Exchange] = []

    var isEmpty: Bool { exchanges.isEmpty }

    init(_ objects: [DatabaseObject]) throws {
        var holders: [(object: DatabaseObject, claim: Claim)] = []
        for object in objects where !object.isInserted {
            for (claim, isNew) in try Self.changes(of: object) where !isNew { holders.append((object, claim)) }
        }
        guard !holders.isEmpty else {
            exchanges = []
            return
        }
        var takers: [Claim: [DatabaseObject]] = [:]
        for object in objects {
            for (claim, isNew) in try Self.changes(of: object) where isNew { takers[claim, default: []].append(object) }
        }
        exchanges = holders.flatMap { holder, claim in
            (takers[claim] ?? []).filter { $0 !== holder }.map {
                Exchange(holder: holder, taker: $0, check: holder.runtime.uniqueChecks[claim.check])
            }
        }
    }

    /// The order in which the objects are written, as positions in `objects` and `exchanges`.
    mutating func order(_ insertions: Insertions) -> [SaveSteps.Step] {
        objects = insertions.objects
        var positions = Dictionary(objects.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var references = insertions.references.needed(without: insertions.deferred)
        for object in exchanges.flatMap({ [$0.holder, $0.taker] }) where positions[object] == nil {
            let links = object.withState { $0.staging?.destinations ?? [:] }
            references[objects.count] = links.values.compactMap { positions[$0] }.filter {
                $0 < insertions.objects.count
            }
            positions[object] = objects.count
            objects.append(object)
        }
        var checks: [[Int]] = []
        let steps = SaveSteps(
            levels: insertions.levels, references: references,
            exchanges: exchanges.compactMap { exchange in
                guard let holder = positions[exchange.holder], let taker = positions[exchange.taker] else { return nil }
                let check = [exchange.holder.runtime.index] + exchange.check.columns
                if !checks.contains(check) { checks.append(check) }
                let canRelease = exchange.holder.runtime.releasableColumns(of: exchange.check.columns) != nil
                return SaveSteps.Exchange(
                    holder: holder, taker: taker,
                    release: !canRelease ? .impossible : exchange.check.areNullsDistinct ? .together : .alone,
                    check: checks.firstIndex(of: check) ?? 0)
            })
        // Only one row at a time can release a value by NULL: the server refuses it if another row has NULL.
        let uncertain = steps.steps.flatMap { step -> [Int] in
            if case .release(let released) = step {
                released.filter { !exchanges[$0].check.areNullsDistinct }
            } else {
                []
            }
        }
        stuck = (steps.stuck + uncertain).map { exchanges[$0] }
        return steps.steps
    }

    /// The deferrable constraints whose values are released, by a change or a deletion, in tables written by more than
    /// one statement.
    static func constraintsToDefer(_ kept: [DatabaseObject], _ deleted: [DatabaseObject]) -> [QualifiedName] {
        struct Written {
            let entity: EntityRuntime
            var hasNew = false
            var hasDeleted = false
            var shapes: Set<ColumnSet> = []
        }
        var written: [Int: Written] = [:]
        for (objects, areDeleted) in [(kept, false), (deleted, true)] {
            for object in objects where !object.runtime.entity.deferrableConstraints.isEmpty {
                let entity = object.runtime
                var found = written[entity.index] ?? Written(entity: entity)
                if areDeleted {
                    found.hasDeleted = true
                } else if object.isInserted {
                    found.hasNew = true
                } else if let staging = object.withState({ $0.staging }) {
                    let linked = staging.destinations.keys.flatMap { entity.relationships[$0].ownColumns }
                    found.shapes.insert(staging.columns.union(ColumnSet(linked)))
                }
                written[entity.index] = found
            }
        }
        return written.values.flatMap { written -> [QualifiedName] in
            let count = (written.hasNew ? 1 : 0) + (written.hasDeleted ? 1 : 0) + written.shapes.count
            guard count > 1 else { return [] }
            return written.entity.entity.deferrableConstraints.filter { constraint in
                let columns = constraint.columns.compactMap { written.entity.attributeIndex(of: $0) }
                return written.hasDeleted || columns.isEmpty && !written.shapes.isEmpty
                    || written.shapes.contains { $0.contains(where: columns.contains) }
            }.map(\.name)
        }.sorted()
    }

    /// The values that an object's write gives up and takes.
    ///
    /// Where only the server knows which rows an index holds, a value may be both.
    private static func changes(of object: DatabaseObject) throws -> [(claim: Claim, isNew: Bool)] {
        let entity = object.runtime
        let (row, stored, isNew) = object.withState { ($0.row, $0.storedRow, $0.status == .inserted) }
        var changes: [(claim: Claim, isNew: Bool)] = []
        for (number, check) in entity.uniqueChecks.enumerated() {
            let isChanged =
                isNew || check.hasUnknownPredicate || check.concerned.contains { !row.hasSameBytes(as: stored, at: $0) }
            guard isChanged else { continue }
            let old = isNew ? nil : try check.value(in: stored)
            let new = try check.value(in: row)
            if old == new, !check.hasUnknownPredicate { continue }
            if let old { changes.append((Claim(entity: entity.index, check: number, value: old), false)) }
            if let new { changes.append((Claim(entity: entity.index, check: number, value: new), true)) }
        }
        return changes
    }

    /// The deletions that must run first: all of them where a new or changed object takes a key or another unique value
    /// of a deleted one.
    ///
    /// If an object leaves a deleted one in the same save, whose delete rules would otherwise reach it, only the
    /// deleted objects whose values are taken, and that no object leaves.
    static func deletedFirst(_ deleted: [DatabaseObject], _ kept: [DatabaseObject]) throws -> [DatabaseObject] {
        if deleted.isEmpty || kept.isEmpty { return [] }
        var held: [Claim: DatabaseObject] = [:]
        for object in deleted {
            let (entity, stored) = (object.runtime, object.storedRow)
            for (number, check) in entity.uniqueChecks.enumerated() {
                guard let value = try check.value(in: stored) else { continue }
                held[Claim(entity: entity.index, check: number, value: value)] = object
            }
        }
        var displaced = Set<DatabaseObject>()
        for object in kept {
            for (claim, isNew) in try changes(of: object) where isNew {
                if let holder = held[claim] { displaced.insert(holder) }
            }
        }
        guard !displaced.isEmpty, try kept.contains(where: { try $0.leaves(deleted) }) else {
            return displaced.isEmpty ? [] : deleted
        }
        return try displaced.filter { displaced in try !kept.contains { try $0.leaves([displaced]) } }
    }

    /// Advice for a refused exchange that could not be ordered; empty if there was none.
    func advice(for entity: EntityRuntime, _ error: PostgresError) -> String {
        let constraint = error.server?.constraint.map { "\"\($0)\"" } ?? "the constraint"
        if error.sqlState == .exclusionViolation {
            return "; if objects of this save exchange such values, make \(constraint) DEFERRABLE, or save in two steps"
        }
        guard error.sqlState == .uniqueViolation,
            let exchange = stuck.first(where: { $0.holder.runtime === entity })
        else { return "" }
        let cycle = "; objects of this save exchange unique values in a cycle"
        if exchange.check.isPartial { return "\(cycle), and \(constraint) is a partial index: save in two steps" }
        return "\(cycle): make \(constraint) DEFERRABLE, or save in two steps"
    }
}

extension EntityRuntime {
    /// The columns of a unique key that can be NULL until its other value is written; nil if none can.
    func releasableColumns(of columns: [Int]) -> [Int]? {
        if let own = leavingColumns(of: columns) { return own }
        let nullable = columns.filter { column in
            let attribute = entity.attributes[column]
            return !key.contains(column) && !attribute.isNotNull && !attribute.isGenerated
        }
        return nullable.isEmpty ? nil : nullable
    }
}

extension DatabaseObject {
    /// Whether a staged change removes the object's reference to one of the objects.
    fileprivate func leaves(_ others: [DatabaseObject]) throws -> Bool {
        let (row, stored, staged) = withState { state in
            (state.row, state.storedRow, state.status == .inserted ? nil : state.staging?.destinations)
        }
        guard let staged else { return false }
        return try runtime.foreignKeys.contains { relationship in
            guard case .foreignKey(let columns, let referenced) = relationship.link,
                staged[relationship.slot] != nil || columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }),
                let key = try ObjectKey(stored, columns)
            else { return false }
            return try others.contains {
                try $0.runtime.index == relationship.destination && ObjectKey($0.storedRow, referenced) == key
            }
        }
    }
}

extension DatabaseContext {
    /// Sets unique values to NULL before their holders' own change: one UPDATE for each set of columns.
    ///
    /// Returns the objects as they were, with the columns to restore.
    func release(_ exchanges: [UniqueClaims.Exchange], _ run: SaveRun) async throws -> [DatabaseObject: SavedObject] {
        var leaving: [SavedObject] = []
        var places: [DatabaseObject: Int] = [:]
        for exchange in exchanges {
            let object = exchange.holder
            guard let columns = object.runtime.releasableColumns(of: exchange.check.columns) else { continue }
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
            run.add(try group.update(), group.entity, count: group.objects.count, { group.objects.map(\.object) }) {
                [self] result in
                // The objects' own changes follow, and report rows that are gone.
                if group.entity.version != nil { try group.applyUpdate(result, in: self, isRelease: true) }
            }
        }
        // Those changes expect the version that this UPDATE makes.
        if isVersioned { try await run.flush() }
        return places.mapValues { leaving[$0] }
    }
}
