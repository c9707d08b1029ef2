import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// The part of a step for one context: the rows and relationships that it asks for, and their effect on memory.
struct ContextPlan: Sendable {
    let core: ContextCore
    let following: ChangeFollowing
    /// A time of the context before the step's snapshot.
    let askedAt: ContextTime
    /// The changes that were checked.
    private(set) var stamp: ChangeFollowing.ChangeStamp
    /// The entities and relationships that the context has loaded.
    let loaded: ChangeFollowing.State
    /// The keys of the rows to read.
    private(set) var keys: [EntityRuntime: Set<ObjectKey>] = [:]
    /// Keys of rows to read whose foreign keys and positions have not changed.
    private(set) var unmoved: [EntityRuntime: Set<ObjectKey>] = [:]
    /// The entities with rows that are not named: all their loaded rows are read.
    private(set) var lost: Set<EntityRuntime> = []
    /// The entities of which changed rows are read that were not deleted.
    private var present: Set<EntityRuntime> = []
    /// The entities with changes that are not read, because no object has the rows.
    private(set) var leftOut: Set<EntityRuntime> = []
    /// The relationships whose answers are not corrected in memory.
    private(set) var stale: Set<RelationshipRuntime> = []
    /// The objects whose relationship is read again.
    private var reloads: [RelationshipRuntime: Set<DatabaseObject>] = [:]
    /// The owners to read again, with the keys by which their members are found.
    private(set) var owners: [RelationshipRuntime: [(object: DatabaseObject, key: ObjectKey)]] = [:]
    /// The owners whose members are counted again.
    private(set) var counts: [RelationshipRuntime: [ObjectKey]] = [:]

    // The results of the step's statements.
    private(set) var rows: [EntityRuntime: [ObjectKey: Row]] = [:]
    private(set) var answers: [RelationshipRuntime: Answer.Builder] = [:]
    private(set) var numbers: [RelationshipRuntime: [ObjectKey: Int]] = [:]

    /// Plans a context's step; nil if the context no longer follows.
    init?(_ core: ContextCore, _ batch: CommittedBatch, askedAt: ContextTime) {
        guard let following = core.following else { return nil }
        (self.core, self.following, self.askedAt) = (core, following, askedAt)
        loaded = following.withState { state in
            state.dropCounts()
            return state
        }
        stamp = core.changeStamp
        for (entity, keys) in loaded.doubtful { self.keys[entity, default: []].formUnion(keys.keys) }
        for (name, changes) in batch.changes {
            if let entity = core.runtime[name] { add(changes, of: entity) }
        }
        // Read between two steps, the row that came may be in memory.
        for (name, keys) in batch.passed {
            if let entity = core.runtime[name] { add(TableChanges(deleted: keys), of: entity) }
        }
        if loaded.reloads > 0 {
            for entity in core.runtime.entities where core.withMap({ $0.knows(entity) }) { lose(entity) }
        } else if stamp != loaded.checked {
            check()
        }
        planCounts()
    }

    /// The keys of the owners in `owners`.
    var ownerKeys: [RelationshipRuntime: [ObjectKey]] { owners.mapValues { $0.map(\.key) } }

    /// Whether rows of an entity that are read are there, as far as the batch says.
    func expectsRows(of entity: EntityRuntime) -> Bool { lost.contains(entity) || present.contains(entity) }

    // MARK: Planning

    /// Adds the changes of a table, as far as they concern the context.
    private mutating func add(_ changes: TableChanges, of entity: EntityRuntime) {
        let isLinked = loaded.isLinked(entity)
        if !isLinked {
            // First: an answer that comes while the step runs may be older, and is asked for again.
            let time = core.tick()
            following.withState { $0.leftOut[entity] = time }
        }
        guard isLinked || core.withMap({ $0.holdsObjects(of: entity) }) else {
            leftOut.insert(entity)
            return
        }
        let isCrowded = core.withMap { $0.log.isCrowded(entity, by: 2 * changes.count) }
        if changes.gap != nil || isCrowded || entity.key.isEmpty || mayBeHidden(entity) { return lose(entity) }
        let changed = changes.keys
        if isLinked {
            keys[entity, default: []].formUnion(changed)
            if !changes.presentKeys.isEmpty { present.insert(entity) }
        } else {
            let held = changed.filter { core.liveObject(entity, $0) != nil }
            keys[entity, default: []].formUnion(held)
            if changes.presentKeys.contains(where: held.contains) { present.insert(entity) }
            if held.count < changed.count { leftOut.insert(entity) }
        }
        let moving = Set(texts: entity.movingColumns.map { entity.entity.attributes[$0].name })
        let unmoved = changes.updated.filter { $0.value?.isDisjoint(with: moving) == true }.map(\.key)
        self.unmoved[entity, default: []].formUnion(unmoved.filter { loaded.doubtful[entity]?[$0] == nil })
        for relationship in entity.foreignKeys where relationship.isComparedByServer {
            reloadAll { $0 == relationship.inverse }
        }
    }

    /// Whether policies may show and hide rows of an entity whatever columns have changed.
    ///
    /// Where policies apply to the connection's role, changes name no keys; a context's settings and role may differ.
    private func mayBeHidden(_ entity: EntityRuntime) -> Bool {
        guard core.client.hasSettings else { return false }
        // Policies may be newer than the context's model.
        let database = core.database
        let model = core.tenantSchema.map { database.knownModel(ofTenant: $0.name) ?? core.runtime } ?? database.runtime
        return model[entity.name]?.entity.obstacles.contains(.policies) ?? true
    }

    /// Plans to read everything loaded of an entity.
    private mutating func lose(_ entity: EntityRuntime) {
        guard lost.insert(entity).inserted else { return }
        unmoved[entity] = nil
        for object in core.withMap({ $0.objects(of: entity) }) { refresh(object) }
        reloadAll { $0.source == entity || $0.destination == entity || $0.helper?.entity == entity }
    }

    private mutating func refresh(_ object: DatabaseObject) {
        guard !object.runtime.key.isEmpty, !object.isInserted, let key = object.key else { return }
        keys[object.runtime, default: []].insert(key)
    }

    private mutating func reloadAll(where predicate: (RelationshipRuntime) -> Bool) {
        for (relationship, owners) in core.loadedOwners(where: predicate) {
            reloads[relationship, default: []].formUnion(owners)
        }
    }

    /// Plans to read rows and answers that have become stale without changes of other clients, as by writes of the
    /// context and rollbacks.
    private mutating func check() {
        for entity in Set(loaded.entities.map(\.self) + loaded.relationships.map(\.source)) {
            for object in core.withMap({ $0.objects(of: entity) }) where object.isStale { refresh(object) }
        }
        for (relationship, owners) in core.loadedOwners(where: { _ in true }) {
            let outdated = owners.filter { !isCurrent(relationship, of: $0) }
            if !outdated.isEmpty { reloads[relationship, default: []].formUnion(outdated) }
        }
    }

    /// Whether a loaded relationship can be read without a statement.
    private func isCurrent(_ relationship: RelationshipRuntime, of owner: DatabaseObject) -> Bool {
        let source = LinkSource(owner, relationship)
        guard relationship.holdsForeignKey else {
            return core.loadedMembers(of: relationship, owner: owner, source) != nil
        }
        guard !source.isStale else { return false }
        guard source.staging?.destinations[relationship.slot] == nil,
            let key = try? relationship.ownKey(source.row)
        else { return true }
        return Loader(core).currentOne(relationship, key, from: source) != nil
    }

    /// Plans to count members again where some may have come or gone.
    private mutating func planCounts() {
        for (relationship, known) in loaded.counts where !known.isEmpty {
            let ends = [relationship.destination, relationship.helper?.entity].compactMap(\.self)
            let isChanged =
                lost.contains(relationship.source)
                || ends.contains { lost.contains($0) || keys[$0]?.isEmpty == false }
            let counted = known.keys.filter { key in
                isChanged
                    || core.changedAt(relationship, key) > known[key]?.askedAt ?? .never
            }
            if !counted.isEmpty { counts[relationship] = Array(counted) }
        }
    }

    // MARK: Answers

    /// Takes the rows that were read, and finds the objects that they move between owners.
    mutating func take(_ rows: [EntityRuntime: [ObjectKey: Row]]) throws {
        for (entity, wanted) in keys {
            let found = (rows[entity] ?? [:]).filter { wanted.contains($0.key) }
            self.rows[entity] = found
            planPairs(of: entity, wanted: wanted, found: found)
            for (key, row) in found {
                let object = core.liveObject(entity, key)
                if let object { moveEnds(of: object, to: row) }
                if object == nil, unmoved[entity]?.contains(key) == true { continue }
                for relationship in entity.helperEnds where loaded.relationships.contains(relationship) {
                    for row in [row, object?.storedRow].compactMap(\.self) { try reloadOwner(relationship, of: row) }
                }
            }
        }
        for (relationship, objects) in reloads {
            owners[relationship] = objects.compactMap { object in
                key(relationship, of: object).map { (object, $0) }
            }
        }
    }

    /// Plans to read all sets of pairs where a helper's changed rows do not tell which pairs came and went.
    private mutating func planPairs(
        of helper: EntityRuntime, wanted: Set<ObjectKey>, found: [ObjectKey: Row]
    ) {
        guard !helper.helperEnds.isEmpty, !wanted.isEmpty else { return }
        let hasDeleted = found.count < wanted.count
        let hasMoved = found.keys.contains { unmoved[helper]?.contains($0) != true }
        let areEndsInKey = helper.helperEnds.allSatisfy { $0.linkColumns.allSatisfy(helper.key.contains) }
        for relationship in helper.helperEnds {
            // With more in the key than both ends, another row may have the same pair.
            let isPairKey = Set(relationship.helper?.pairColumns ?? []) == Set(helper.key)
            guard relationship.isComparedByServer || hasDeleted && !isPairKey || hasMoved && !areEndsInKey
            else { continue }
            reloadAll { $0 == relationship }
            stale.insert(relationship)
        }
    }

    /// Plans to read the relationships of an object that its new row finds by other keys, or whose rows in memory are
    /// no longer known to be right.
    ///
    /// A to-one end that was NULL has nothing in memory: it is read where the context has followed the relationship.
    private mutating func moveEnds(of object: DatabaseObject, to row: Row) {
        let followed = loaded.relationships.filter { $0.source == object.runtime }
        if followed.isEmpty { return }
        let moved = object.withState { state in
            followed.filter { relationship in
                let (known, columns) = (state.relationships[relationship.slot], relationship.ownColumns)
                guard relationship.holdsForeignKey else {
                    return known != nil && columns.contains { !state.storedRow.hasSameBytes(as: row, at: $0) }
                }
                // A staged foreign key stays.
                return state.staging.map({ !$0.columns.isDisjoint(with: columns) }) != true
            }
        }
        for relationship in moved {
            if relationship.holdsForeignKey, isKnown(relationship, of: object, in: row) { continue }
            reloads[relationship, default: []].insert(object)
        }
    }

    /// Whether memory knows where the foreign key of an object's new row leads to.
    ///
    /// A key that was NULL for a while may lead back to a row that was deleted meanwhile, and has come back as another
    /// row.
    private func isKnown(_ relationship: RelationshipRuntime, of object: DatabaseObject, in row: Row) -> Bool {
        let source = LinkSource(object, relationship)
        guard case .one(let one)? = source.loaded, let key = try? relationship.ownKey(row) else { return false }
        return one.foreignKey == key && Loader(core).currentOne(relationship, key, from: source) != nil
    }

    /// Plans to read the set of the owner that a helper's row refers to.
    private mutating func reloadOwner(_ relationship: RelationshipRuntime, of row: Row) throws {
        let owner = try core.liveObject(
            relationship.source, where: relationship.ownColumns, equal: row, relationship.linkColumns)
        guard let owner, owner.withState({ $0.relationships[relationship.slot] != nil }) else { return }
        reloads[relationship, default: []].insert(owner)
    }

    /// The key by which an object's relationship is found, once it has its new row; nil if nothing can be found.
    private func key(_ relationship: RelationshipRuntime, of object: DatabaseObject) -> ObjectKey? {
        guard let own = object.key, !own.isTemporary else { return nil }
        let (stored, shown, staged) = object.withState { ($0.storedRow, $0.row, $0.staging?.columns ?? []) }
        let isRead = keys[object.runtime]?.contains(own) == true
        guard let row = isRead ? rows[object.runtime]?[own] : stored else { return nil }
        // A staged foreign key stays, and is followed.
        let isStaged = relationship.holdsForeignKey && relationship.ownColumns.contains(where: staged.contains)
        return try? relationship.ownKey(isStaged ? shown : row)
    }

    /// Takes the members and counts that were read.
    mutating func take(
        _ answers: [RelationshipRuntime: Answer.Builder], _ counts: [RelationshipRuntime: [ObjectKey: Int]]
    ) {
        for (relationship, owners) in owners {
            self.answers[relationship] = answers[relationship]?.part(of: KeyNumbers(owners.map(\.key)))
        }
        for (relationship, keys) in self.counts {
            numbers[relationship] = counts[relationship]?.filter { keys.contains($0.key) }
        }
    }
}
