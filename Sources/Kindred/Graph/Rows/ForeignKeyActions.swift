import KindredPostgres
import KindredSchema
import Synchronization

/// Applies the database's own foreign-key actions to memory, after a deletion or a change of values that foreign keys refer to.
///
/// The effect is known for objects whose rows referred to such a row in memory, unless the server changes more of a row
/// than its foreign key. All other objects that an action may reach are doubtful, including objects behind rows without
/// objects: the write reads them again before it ends.
struct ForeignKeyActions {
    /// Deleted rows: rows whose values are known, and perhaps rows with unknown values.
    struct Gone {
        let entity: EntityRuntime
        /// The key in the given columns of each known row.
        let keys: (_ columns: [Int]) throws -> Set<ObjectKey>
        var hasUnknown = false
        /// Whether the database deleted them by its own action, so that rows referring to them have not been handled.
        var isByDatabase = false
    }

    private let core: ContextCore
    private var unknown: Set<EntityRuntime> = []
    /// The entities whose rows without objects may be deleted.
    private var deletedUnheld: Set<EntityRuntime> = []
    /// The relationships that were followed from rows without objects.
    private var unheld: Set<RelationshipRuntime> = []

    init(_ core: ContextCore) {
        self.core = core
    }

    /// Follows the database's actions from deleted rows.
    ///
    /// - Parameter isHandled: whether the rows at a relationship's other end have been handled already.
    mutating func follow(_ gone: [Gone], except isHandled: (RelationshipRuntime) -> Bool = { _ in false }) throws {
        var pending = gone
        while let next = pending.popLast() {
            for relationship in next.entity.relationships where relationship.destinationHoldsForeignKey {
                guard relationship.model.databaseAction != .noAction, next.isByDatabase || !isHandled(relationship)
                else { continue }
                if let more = try follow(relationship, from: next) { pending.append(more) }
            }
            for key in core.runtime.partitionKeys[next.entity] ?? [] where key.hasAction {
                try doubt(key, referringTo: try next.keys(key.referenced), hasUnknown: next.hasUnknown)
            }
        }
    }

    /// Follows the database's actions from a row that foreign keys refer to, whose values have changed.
    mutating func follow(_ relationship: RelationshipRuntime, from old: Row, to row: Row) throws {
        let (entity, columns, referenced) =
            (relationship.destination, relationship.otherColumns, relationship.ownColumns)
        let action = relationship.model.updateAction
        guard action != .noAction, let former = try ObjectKey(old, referenced) else { return }
        var cells: RowCells?
        if action == .cascade || action == .setNull && entity.mayBeNull(columns) {
            var values = RowCells()
            for (column, position) in zip(columns, referenced) {
                try values.set(action == .cascade ? row[position] : nil, at: column, of: entity, core.types)
            }
            cells = values
        }
        for object in try referring(relationship, to: [former], hasUnknown: false) {
            let stored = object.storedRow
            if try ObjectKey(stored, columns) == former {
                try change(object, cells)
            } else if try core.liveObject(relationship.source, where: referenced, equal: stored, columns) == nil {
                core.doubt(object)
            }
        }
        try followUnheld(entity, columns)
    }

    /// Follows the database's actions from rows of an entity without objects, whose values in some columns may have changed.
    mutating func followUnheld(_ entity: EntityRuntime, _ columns: [Int]) throws {
        for relationship in entity.followers(of: columns) where unheld.insert(relationship).inserted {
            for object in try referring(relationship, to: [], hasUnknown: true) {
                let (row, own) = (object.storedRow, relationship.otherColumns)
                if own.contains(where: { row.isNull(at: $0) }) { continue }
                if try core.liveObject(entity, where: relationship.ownColumns, equal: row, own) == nil {
                    core.doubt(object)
                }
            }
            core.take(RowGap(.some, of: relationship.destination))
            try followUnheld(relationship.destination, relationship.otherColumns)
        }
    }

    /// Marks the objects as doubtful whose key of single partitions leads to changed values.
    mutating func follow(_ key: PartitionKeyRuntime, from old: Row) throws {
        guard let former = try ObjectKey(old, key.referenced) else { return }
        try doubt(key, referringTo: [former], hasUnknown: false)
    }

    /// Objects in memory that may refer to keys by a relationship.
    ///
    /// The references of a stale object's row are unknown: it is read before its next use.
    private func referring(
        _ relationship: RelationshipRuntime, to keys: Set<ObjectKey>, hasUnknown: Bool
    ) throws -> [DatabaseObject] {
        let (entity, columns) = (relationship.destination, relationship.otherColumns)
        let objects = try core.withMap { map in
            if hasUnknown || relationship.isComparedByServer { return map.objects(of: entity) }
            return try keys.flatMap { try map.objects(entity, where: columns, equal: $0) }
        }
        return objects.filter { !$0.isGone && !$0.isStale }
    }

    /// Gives an object the values that an action has set, and marks it as doubtful if the server changes more values.
    ///
    /// - Parameter cells: nil where only the server knows them: defaults, and NULL in a column that has lost its NOT NULL but
    ///   whose class requires a value, which reading the row reports.
    private func change(_ object: DatabaseObject, _ cells: RowCells?) throws {
        if let cells { try core.take(object.storedRow.replacing(cells), for: object) }
        if cells == nil || object.runtime.changesWithForeignKeys { core.doubt(object) }
    }

    /// Marks the objects as doubtful whose key of single partitions leads to rows: their partition, and so the action, is unknown
    /// here.
    private mutating func doubt(
        _ key: PartitionKeyRuntime, referringTo keys: Set<ObjectKey>, hasUnknown: Bool
    ) throws {
        let entity = key.source
        let objects = try core.withMap { map in
            if hasUnknown || key.isComparedByServer { return map.objects(of: entity) }
            return try keys.flatMap { try map.objects(entity, where: key.columns, equal: $0) }
        }
        for object in objects where !object.isGone { core.doubt(object) }
        if unknown.insert(entity).inserted { core.take(RowGap(.some, of: entity)) }
    }

    private mutating func follow(_ relationship: RelationshipRuntime, from gone: Gone) throws -> Gone? {
        let (entity, columns, referenced) =
            (relationship.destination, relationship.otherColumns, relationship.ownColumns)
        let keys = try gone.keys(referenced)
        let action = relationship.model.databaseAction
        var deleted: [Row] = []
        let cleared = relationship.model.clearedColumns.compactMap { entity.attributeIndex(of: $0) }
        var cells: RowCells?
        if action == .setNull, entity.mayBeNull(cleared) {
            var values = RowCells()
            for column in cleared { values.setNull(column) }
            cells = values
        }
        for object in try referring(relationship, to: keys, hasUnknown: gone.hasUnknown) {
            let row = object.storedRow
            guard let key = try ObjectKey(row, columns) else { continue }
            if keys.contains(key) {
                switch action {
                case .cascade:
                    try core.take(deletionOf: object)
                    deleted.append(row)
                case .setNull, .setDefault: try change(object, cells)
                case .noAction: break
                }
            } else if gone.hasUnknown || relationship.isComparedByServer,
                try core.liveObject(gone.entity, where: referenced, equal: row, columns) == nil
            {
                core.doubt(object)
            }
        }
        if action != .cascade { try followUnheld(entity, cleared.isEmpty ? columns : cleared) }
        if unknown.insert(entity).inserted { core.take(RowGap(.some, of: entity)) }
        guard action == .cascade, deletedUnheld.insert(entity).inserted || !deleted.isEmpty else { return nil }
        let rows = deleted
        return Gone(
            entity: entity,
            keys: { columns in Set(try entity.referencedKeys(rows, columns)) },
            hasUnknown: true,
            isByDatabase: true
        )
    }

    /// Whether the database's actions on a deletion may leave doubtful objects.
    func mayLeaveDoubt(deleting entity: EntityRuntime) -> Bool {
        var reached: Set<EntityRuntime> = []
        var pending = [entity]
        while let next = pending.popLast() {
            for relationship in next.relationships where relationship.destinationHoldsForeignKey {
                let (action, destination) = (relationship.model.databaseAction, relationship.destination)
                switch action {
                case .noAction: continue
                case .cascade: if reached.insert(destination).inserted { pending.append(destination) }
                case .setNull, .setDefault:
                    if mayLeaveDoubt(changing: relationship.otherColumns, of: destination, isHeld: false) {
                        return true
                    }
                }
                // Where only the server can compare keys, the rows that its action reaches are unknown here.
                let isDoubtful =
                    action == .setDefault || action == .setNull && destination.changesWithForeignKeys
                    || relationship.isComparedByServer
                if isDoubtful, isInMemory(destination) { return true }
            }
        }
        let isBehindUnknown = reached.contains { entity in
            entity.relationships.contains {
                $0.destinationHoldsForeignKey && $0.model.databaseAction != .noAction && isInMemory($0.destination)
            }
        }
        return isBehindUnknown
            || reached.union([entity]).contains { entity in
                (core.runtime.partitionKeys[entity] ?? []).contains { $0.hasAction && isInMemory($0.source) }
            }
    }

    /// Whether the database's actions on new values in some columns may leave doubtful objects.
    ///
    /// - Parameter isHeld: whether the changed rows have objects.
    func mayLeaveDoubt(changing columns: [Int], of entity: EntityRuntime, isHeld: Bool) -> Bool {
        guard columns.contains(where: entity.findingColumns.contains) else { return false }
        var reached: Set<RelationshipRuntime> = []
        var pending = [(entity: entity, columns: columns, isHeld: isHeld)]
        while let (entity, columns, isHeld) = pending.popLast() {
            for relationship in entity.followers(of: columns) where reached.insert(relationship).inserted {
                let destination = relationship.destination
                let isKnown =
                    isHeld && relationship.model.updateAction != .setDefault && !destination.changesWithForeignKeys
                    && !relationship.isComparedByServer
                if !isKnown, isInMemory(destination) { return true }
                pending.append((destination, relationship.otherColumns, false))
            }
            let keys = core.runtime.partitionKeys[entity] ?? []
            if keys.contains(where: { $0.isFollowed(columns) && isInMemory($0.source) }) { return true }
        }
        return false
    }

    private func isInMemory(_ entity: EntityRuntime) -> Bool { core.withMap { $0.holdsObjects(of: entity) } }
}

extension ContextCore {
    /// Notes that a row has to be read again before the write ends.
    fileprivate func doubt(_ object: DatabaseObject) { doubtful.withLock { $0.append(object) } }

    /// The objects whose rows have to be read again, which then wait no longer.
    func takeDoubtful() -> [DatabaseObject] {
        doubtful.withLock { objects in
            defer { objects = [] }
            return objects
        }
    }
}

extension EntityRuntime {
    /// The relationships by which the database's actions follow new values in some columns.
    fileprivate func followers(of columns: [Int]) -> [RelationshipRuntime] {
        relationships.filter { relationship in
            relationship.destinationHoldsForeignKey && relationship.model.updateAction != .noAction
                && relationship.ownColumns.contains(where: columns.contains)
        }
    }

    /// Whether the server may change more of a row than a foreign key that its action sets: a version, generated
    /// columns, and columns that triggers and rules change.
    fileprivate var changesWithForeignKeys: Bool {
        version != nil || entity.attributes.contains(where: \.isGenerated)
            || !entity.obstacles.isDisjoint(with: [.updateTriggers, .rules])
            // The row may move to another partition.
            || entity.kind == .partitionedTable && !entity.obstacles.isDisjoint(with: .triggers)
    }
}

extension PartitionKeyRuntime {
    /// Whether the database's actions follow new values in some columns.
    func isFollowed(_ columns: [Int]) -> Bool {
        hasUpdateAction && referenced.contains(where: columns.contains)
    }
}
