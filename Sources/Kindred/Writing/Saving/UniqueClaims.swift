import KindredPostgres
import KindredSchema

/// Which unique values of a save's objects go from one object to another.
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
    /// New objects, in their order, and behind them the changed ones that hold what others take.
    private(set) var objects: [DatabaseObject] = []
    /// Exchanges that no order of writing and no NULL surely makes possible: the server may refuse them.
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

    /// In which order the objects are written, as positions in `objects` and `exchanges`.
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
        // By NULL only one row at a time gives a value up: the server refuses it where another row has it.
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

    /// The deferrable constraints whose values are given up, by a change or a deletion, in tables that are written by more
    /// than one statement.
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

    /// What an object's write gives up and takes.
    ///
    /// Where the server alone knows which rows an index holds, it may be both with the same value.
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

    /// The deleted objects that have to go first: all of them where a new or changed object takes a key or another unique
    /// value of one.
    ///
    /// Where an object leaves a deleted one in the same save, by whose delete rules it would be taken along or stand in the way
    /// if it still referred to it, only those whose values are taken, and that no object leaves.
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
        var robbed = Set<DatabaseObject>()
        for object in kept {
            for (claim, isNew) in try changes(of: object) where isNew {
                if let holder = held[claim] { robbed.insert(holder) }
            }
        }
        guard !robbed.isEmpty, try kept.contains(where: { try $0.leaves(deleted) }) else {
            return robbed.isEmpty ? [] : deleted
        }
        return try robbed.filter { robbed in try !kept.contains { try $0.leaves([robbed]) } }
    }

    /// What to do where the server refused an exchange that could not be taken apart; empty if there was none.
    func advice(for entity: EntityRuntime, _ error: PostgresError) -> String {
        let constraint = error.server?.constraint.map { "\"\($0)\"" } ?? "the constraint"
        if error.sqlState == .exclusionViolation {
            return "; if objects of this save exchange such values, make \(constraint) DEFERRABLE, or save in two steps"
        }
        guard error.sqlState == .uniqueViolation,
            let exchange = stuck.first(where: { $0.holder.runtime === entity })
        else { return "" }
        let circle = "; objects of this save exchange unique values in a circle"
        if exchange.check.isPartial { return "\(circle), and \(constraint) is a partial index: save in two steps" }
        return "\(circle): make \(constraint) DEFERRABLE, or save in two steps"
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
    /// Whether a staged change makes the object refer to one of some objects no longer.
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
