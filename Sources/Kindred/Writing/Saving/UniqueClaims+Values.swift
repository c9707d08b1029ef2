import KindredPostgres
import KindredSchema

// The unique values that objects have, give up and take.
extension UniqueClaims {
    /// The deferrable constraints whose values are released, by a change or a deletion, in tables written by more than
    /// one statement.
    static func constraintsToDefer(_ kept: [DatabaseObject], _ deleted: [DatabaseObject]) -> [QualifiedName] {
        struct Written {
            var hasNew = false
            var hasDeleted = false
            var shapes: Set<ColumnSet> = []
        }
        var written: [EntityRuntime: Written] = [:]
        for (objects, areDeleted) in [(kept, false), (deleted, true)] {
            for object in objects where !object.runtime.entity.deferrableConstraints.isEmpty {
                let entity = object.runtime
                var found = written[entity] ?? Written()
                if areDeleted {
                    found.hasDeleted = true
                } else if object.isInserted {
                    found.hasNew = true
                } else if let staging = object.withState({ $0.staging }) {
                    let linked = staging.destinations.keys.flatMap { entity.relationships[$0].ownColumns }
                    found.shapes.insert(staging.columns.union(ColumnSet(linked)))
                }
                written[entity] = found
            }
        }
        return written.flatMap { entity, written -> [QualifiedName] in
            let count = (written.hasNew ? 1 : 0) + (written.hasDeleted ? 1 : 0) + written.shapes.count
            guard count > 1 else { return [] }
            return entity.entity.deferrableConstraints.filter { constraint in
                let columns = constraint.columns.compactMap { entity.attributeIndex(of: $0) }
                return written.hasDeleted || columns.isEmpty && !written.shapes.isEmpty
                    || written.shapes.contains { $0.contains(where: columns.contains) }
            }.map(\.name)
        }.sorted()
    }

    /// The values that an object's write gives up and takes.
    static func changes(of object: DatabaseObject) throws -> [(claim: Claim, isNew: Bool)] {
        let entity = object.runtime
        if !object.withState({ $0.mayChange(entity.uniqueColumns) }) { return [] }
        let (row, stored, isNew) = object.withState { ($0.row, $0.storedRow, $0.status == .inserted) }
        var changes: [(claim: Claim, isNew: Bool)] = []
        for (number, check) in entity.uniqueChecks.enumerated() {
            guard isNew || check.concerned.contains(where: { !row.hasSameBytes(as: stored, at: $0) }) else { continue }
            let old = isNew ? nil : try check.value(in: stored)
            let new = try check.value(in: row, omitted: isNew && check.isPartial ? omittedColumns(of: object) : [])
            if old == new { continue }
            if let old { changes.append((Claim(entity: entity, check: number, value: old), false)) }
            if let new { changes.append((Claim(entity: entity, check: number, value: new), true)) }
        }
        return changes
    }

    /// The values that a stored object has.
    static func values(of object: DatabaseObject) throws -> [Claim] {
        let (entity, stored) = (object.runtime, object.storedRow)
        return try entity.uniqueChecks.enumerated().compactMap { number, check in
            try check.value(in: stored).map { Claim(entity: entity, check: number, value: $0) }
        }
    }

    /// The deletions that must run before other objects are written, because a written object takes a key or another
    /// unique value of a deleted object.
    ///
    /// The order depends on whether an object of the same save leaves a deleted object, whose delete rules would
    /// otherwise reach it:
    ///
    /// - If none leaves, all deletions run first.
    /// - Else only deleted objects whose values are taken run early: first the objects that none leaves, then each other
    ///   object as soon as the objects that leave it are written.
    ///
    /// All other deletions then run after the writes.
    static func earlyDeletions(_ deleted: [DatabaseObject], _ kept: [DatabaseObject]) throws -> (
        first: [DatabaseObject], afterLeavers: [DatabaseObject]
    ) {
        if deleted.isEmpty || kept.isEmpty { return ([], []) }
        var held: [Claim: DatabaseObject] = [:]
        for object in deleted {
            for claim in try values(of: object) { held[claim] = object }
        }
        var displaced = ServerClaims(kept, deleted).holders.intersection(deleted)
        for object in kept {
            for (claim, isNew) in try changes(of: object) where isNew {
                if let holder = held[claim] { displaced.insert(holder) }
            }
        }
        guard !displaced.isEmpty, try kept.contains(where: { try leaves($0, deleted) }) else {
            return (displaced.isEmpty ? [] : deleted, [])
        }
        let isLeft = try Dictionary(grouping: deleted.filter(displaced.contains)) { displaced in
            try kept.contains { try leaves($0, [displaced]) }
        }
        return (isLeft[false] ?? [], isLeft[true] ?? [])
    }

    /// The columns of a new object that the database fills.
    static func omittedColumns(of object: DatabaseObject) -> ColumnSet {
        object.runtime.columnsWithDefault.subtracting(object.withState { $0.stagingBox?.staging.columns ?? [] })
    }

    /// Whether a staged change removes an object's reference to one of some objects.
    static func leaves(_ object: DatabaseObject, _ others: [DatabaseObject]) throws -> Bool {
        let (row, stored, staged) = object.withState { state in
            (state.row, state.storedRow, state.status == .inserted ? nil : state.staging?.destinations)
        }
        guard let staged else { return false }
        return try object.runtime.foreignKeys.contains { relationship in
            let columns = relationship.ownColumns
            guard
                staged[relationship.slot] != nil || columns.contains(where: { !row.hasSameBytes(as: stored, at: $0) }),
                let key = try ObjectKey(stored, columns)
            else { return false }
            return try others.contains {
                try $0.runtime == relationship.destination
                    && ObjectKey($0.storedRow, relationship.otherColumns) == key
            }
        }
    }
}
