import KindredPostgres
import KindredSchema

/// Applies the database's own foreign-key actions to memory, after a deletion.
///
/// The effect is known for objects whose rows referred to a deleted row in memory. Behind rows without objects it is
/// unknown: the objects that it may reach are read again.
struct ForeignKeyActions {
    /// Deleted rows: rows whose values are known, and perhaps others.
    struct Gone {
        let entity: EntityRuntime
        /// The key in the given columns of each known row.
        let keys: (_ columns: [Int]) throws -> Set<ObjectKey>
        var hasUnknown = false
        /// Whether the database deleted them by its own action, so that rows referring to them have not been handled.
        var isByDatabase = false
    }

    private let core: ContextCore
    /// Objects by entity whose rows may have been changed or deleted.
    private(set) var doubtful: [EntityRuntime: [DatabaseObject]] = [:]
    private var unknown: Set<EntityRuntime> = []

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
                try markDoubtful(key, from: next)
            }
        }
    }

    /// Marks the objects as doubtful whose key of single partitions leads to deleted rows: their partition, and so the
    /// action, is unknown here.
    private mutating func markDoubtful(_ key: PartitionKeyRuntime, from gone: Gone) throws {
        let entity = key.source
        let keys = try gone.keys(key.referenced)
        let objects = try core.withMap { map in
            if gone.hasUnknown || key.isComparedByServer { return map.objects(of: entity) }
            return try keys.flatMap { try map.objects(entity, where: key.columns, equal: $0) }
        }
        doubtful[entity, default: []] += objects.filter { !$0.isGone }
        if unknown.insert(entity).inserted { core.forgetUnheldRows(of: entity) }
    }

    private mutating func follow(_ relationship: RelationshipRuntime, from gone: Gone) throws -> Gone? {
        let (entity, columns, referenced) =
            (relationship.destination, relationship.otherColumns, relationship.ownColumns)
        let keys = try gone.keys(referenced)
        let action = relationship.model.databaseAction
        var deleted: [Row] = []
        let isAnyInDoubt = gone.hasUnknown || relationship.isComparedByServer
        let candidates = try core.withMap { map in
            if isAnyInDoubt { return map.objects(of: entity) }
            return try keys.flatMap { try map.objects(entity, where: columns, equal: $0) }
        }
        // The references of a stale object's row are unknown: it is read before its next use.
        for object in candidates where !object.isGone && !object.isStale {
            let row = object.storedRow
            guard let key = try ObjectKey(row, columns) else { continue }
            if keys.contains(key) {
                switch action {
                case .cascade:
                    try core.accept(deletionOf: object)
                    deleted.append(row)
                // The server has changed the row's version.
                case .setNull where entity.entity.optimisticLocking == .xmin:
                    doubtful[entity, default: []].append(object)
                case .setNull:
                    let cleared = relationship.model.clearedColumns.compactMap { entity.attributeIndex(of: $0) }
                    if entity.mayBeNull(cleared) {
                        try core.accept(row.settingNull(cleared), for: object)
                    } else {
                        // The column has lost its NOT NULL, but the class requires a value: reading the row reports
                        // that.
                        doubtful[entity, default: []].append(object)
                    }
                case .setDefault: doubtful[entity, default: []].append(object)
                case .noAction: break
                }
            } else if isAnyInDoubt,
                try core.liveObject(gone.entity, where: referenced, equal: row, columns) == nil
            {
                doubtful[entity, default: []].append(object)
            }
        }
        let isNew = unknown.insert(entity).inserted
        if isNew { core.forgetUnheldRows(of: entity) }
        guard action == .cascade, isNew || !deleted.isEmpty else { return nil }
        let rows = deleted
        return Gone(
            entity: entity,
            keys: { columns in Set(try entity.referencedKeys(rows, columns)) },
            hasUnknown: true,
            isByDatabase: true
        )
    }

    /// Reads the doubtful objects again: one query for each entity, none without such objects.
    ///
    /// Rows that turn out to be gone are followed as well.
    mutating func settle() async throws {
        while !doubtful.isEmpty {
            let objects = doubtful
            doubtful = [:]
            try follow(try await lost(among: objects))
        }
    }

    /// Reads objects again, and returns the rows that are gone.
    private func lost(among doubtful: [EntityRuntime: [DatabaseObject]]) async throws -> [Gone] {
        var lost: [Gone] = []
        for (entity, objects) in doubtful.sorted(by: { $0.key < $1.key }) {
            var seen = Set<DatabaseObject>()
            let live = objects.filter { !$0.isGone && seen.insert($0).inserted }
            var rows: [Row] = []
            for keys in live.compactMap(\.key).slices() {
                let columns = Array(entity.attributeColumns)
                let statement = try DeletionStatements.rows(entity, keys, columns: columns, isLocked: false)
                let result = try await core.client.send([statement], entity)[0]
                try core.accept(EntityRows(result, of: entity), of: entity)
                var found: Set<ObjectKey> = []
                for position in 0..<result.count {
                    if let key = try ObjectKey(result, row: position, entity.key) { found.insert(key) }
                }
                let gone = live.filter { $0.key.map { !found.contains($0) } ?? false }
                rows += gone.map(\.storedRow)
                for object in gone { try core.accept(deletionOf: object) }
            }
            guard !rows.isEmpty else { continue }
            let gone = rows
            lost.append(
                Gone(
                    entity: entity,
                    keys: { columns in Set(try entity.referencedKeys(gone, columns)) },
                    isByDatabase: true
                ))
        }
        return lost
    }
}
