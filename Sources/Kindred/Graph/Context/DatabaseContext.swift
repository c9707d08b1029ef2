import KindredPostgres
public import KindredSchema
import Synchronization

/// A unit of work over a database: the objects it has handed out, one per row, and the relationships they have loaded.
///
/// Cheap to make: a server makes one per request. It caches only the objects that the program holds and the
/// relationships they have loaded. `Sendable`: any task may use it and its objects.
///
/// Hold it until staged changes are saved. When the last reference to it goes, unsaved changes of objects that the
/// program does not hold are lost, and the log says so once. Objects that the program holds keep working and keep their
/// staged changes.
public final class DatabaseContext: Sendable {
    let core: ContextCore

    /// Whether it is counted, and stages weakly held changes again.
    private let stagesAgain: Bool

    /// Only the core makes contexts, since it counts them.
    init(_ core: ContextCore, stagesAgain: Bool = true) { (self.core, self.stagesAgain) = (core, stagesAgain) }

    deinit { core.contextReleased(stagesAgain: stagesAgain) }

    /// The database that the context works on.
    public var database: Database { core.database }

    package var runtime: SchemaRuntime { core.runtime }

    /// The effect of the first access to a relationship.
    public var faulting: FaultingMode { core.faulting }

    /// The model that the context was made with.
    public var schema: DatabaseSchema { runtime.schema }

    /// The types of the database, which encode values.
    var types: TypeRegistry { database.types }

    /// The journal of the task's transaction, if it is in one.
    var journal: TransactionJournal? { TransactionJournal.current(of: database) }

    /// The journal whose rollback takes back the task's reads and notes from now on; nil while it has written nothing.
    var writing: TransactionJournal? { journal?.writing }

    /// The time of a query, given to `apply` with its answer.
    var now: UInt64 { core.clock.load(ordering: .acquiring) }

    /// The time of a query whose answer may take long, earlier than that of every later query.
    func beginReading() -> UInt64 { core.clock.add(1, ordering: .acquiringAndReleasing).oldValue }

    /// The time of a change, later than that of every earlier query.
    func tick() -> UInt64 { core.clock.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Whether nothing was noted since a time.
    func isQuiet(since time: UInt64) -> Bool { core.notedAt.load(ordering: .acquiring) <= time }

    /// The number of undone transactions that had changed the context.
    var undoCount: UInt64 { core.undone.load(ordering: .acquiring) }

    /// Notes a change of rows or relationships, at a new time.
    ///
    /// The time is taken under the map's lock, as readers take theirs, so that an earlier reader sees the note next
    /// time.
    func note<T: Sendable>(_ body: (inout IdentityMap, UInt64) -> T) -> T {
        journal?.touch(self)
        return core.withMap { map in
            let time = tick()
            defer { core.notedAt.store(time, ordering: .releasing) }
            return body(&map, time)
        }
    }

    /// Notes that rows of an entity are gone, or may be (`areInDoubt`), without knowing which.
    func noteLostRows(of entity: EntityRuntime, areInDoubt: Bool = false) {
        let (before, time) = note { map, time in (map.noteLostRows(entity, at: time, areInDoubt: areInDoubt), time) }
        writing?.recordLostRows(before, entity, at: time, in: self)
        noteWrittenThrough(entity)
    }

    /// Called when a transaction begins to change the context.
    func begin(_ root: TransactionScope) {
        core.times.withLock { $0.begin(root, at: tick()) }
        core.hasTransactions.store(true, ordering: .releasing)
    }

    /// Called when a transaction has been committed or rolled back.
    func end(_ root: TransactionScope) {
        core.times.withLock { $0.end(root, at: tick()) }
    }

    /// Called when a transaction or savepoint was rolled back: relationships are rebuilt from their answers.
    func noteUndone() {
        note { _, _ in _ = core.undone.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The effective time of a query by this task: see ``TransactionTimes``.
    func counted(_ askedAt: UInt64) -> UInt64 {
        guard core.hasTransactions.load(ordering: .acquiring) else { return askedAt }
        let root = journal?.scope.root
        return core.times.withLock { $0.counted(askedAt, in: root) }
    }

    /// Whether another task's transaction is running and has changed the context.
    var isBesideTransaction: Bool {
        guard core.hasTransactions.load(ordering: .acquiring) else { return false }
        let root = journal?.scope.root
        return core.times.withLock { $0.isRunning(besides: root) }
    }

    /// Runs `body` on the identity map, after moving the rows of released objects into it.
    func withMap<T: Sendable>(_ body: (inout IdentityMap) throws -> T) rethrows -> T { try core.withMap(body) }

    /// Evicts all notes: everything read before is stale.
    func forgetAllNotes() {
        for entity in runtime.entities where withMap({ $0.knows(entity) }) {
            note { map, time in map.forgetNotes(of: entity, at: time) }
        }
    }

    /// The live object of a key, without I/O.
    package func liveObject(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        if case .temporary = key { return withMap { $0.object(entity, key) } }
        return core.references.object(entity, key)
    }
}

extension DatabaseContext {
    /// The objects of a result whose first columns are the entity's attributes: known objects, refreshed, and new ones.
    package func objects(
        from result: QueryResult,
        of entity: EntityRuntime,
        askedAt: UInt64
    ) throws -> [DatabaseObject] {
        if result.count == 1 { return [try object(from: result, row: 0, of: entity, askedAt: askedAt)] }
        // Columns after the attributes belong to the request.
        let rows = try EntityRows(result, of: entity)
        let keys = try entity.keys(of: result)
        let group = result.count == 0 ? nil : keys.map { FetchGroup($0, askedAt: askedAt) }
        func make(_ position: Int) throws -> DatabaseObject {
            self.make(entity, try rows[position], group, Int32(clamping: position))
        }
        let counted = counted(askedAt)
        let (objects, known) = try withMap { map in
            switch keys {
            case .integers(let integers):
                let (objects, known) = try map.objects(entity, integers, orMake: make)
                if map.hasNotes(entity) {
                    let old = Set(known)
                    for position in objects.indices where !old.contains(position) {
                        tellNotes(to: objects[position], .integer(integers[position]), askedAt: counted, &map)
                    }
                }
                return (objects, known)
            case .keys(let keys):
                var (objects, known): ([DatabaseObject], [Int]) = ([], [])
                for (position, key) in keys.enumerated() {
                    guard let key else {
                        objects.append(try make(position))
                        continue
                    }
                    let (object, isNew) = try map.object(entity, key) { try make(position) }
                    objects.append(object)
                    if isNew {
                        tellNotes(to: object, key, askedAt: counted, &map)
                    } else {
                        known.append(position)
                    }
                }
                return (objects, known)
            default:
                return (try (0..<result.count).map(make), [])
            }
        }
        for position in known {
            try apply(rows[position], to: objects[position], askedAt: askedAt)
            if let group { objects[position].join(group, at: Int32(clamping: position)) }
        }
        if keys == nil, objects.count > 1 {
            let group = FetchGroup(
                .objects(objects.map { FetchGroup.WeakObject(object: $0) }), askedAt: askedAt)
            for (position, object) in objects.enumerated() { object.join(group, at: Int32(clamping: position)) }
        }
        guard let first = objects.first, known.count < objects.count else { return objects }
        writing?.recordFetched(Self.new(among: objects, known))
        if awakes(entity, first) { awake(Self.new(among: objects, known), of: entity) }
        return objects
    }

    /// The objects that were not known before.
    private static func new(among objects: [DatabaseObject], _ known: [Int]) -> [DatabaseObject] {
        if known.isEmpty { return objects }
        let old = Set(known)
        return objects.indices.filter { !old.contains($0) }.map { objects[$0] }
    }

    /// The object of one row, as `objects` gives them; apart because look-ups by key are the most frequent call.
    func object(
        from result: QueryResult, row position: Int, of entity: EntityRuntime, askedAt: UInt64
    ) throws -> DatabaseObject {
        let row = try EntityRows(result, of: entity)[position]
        func makeAlone() -> DatabaseObject {
            let object = make(entity, row, nil, 0)
            object.withState { $0.seenAt = askedAt }
            return object
        }
        var (object, isNew): (DatabaseObject, Bool)
        if !entity.key.isEmpty, let key = try ObjectKey(row, entity.key) {
            let counted = counted(askedAt)
            (object, isNew) = withMap { map in
                let found = map.object(entity, key) { makeAlone() }
                if found.isNew { tellNotes(to: found.object, key, askedAt: counted, &map) }
                return found
            }
            if !isNew { try apply(row, to: object, askedAt: askedAt) }
        } else {
            (object, isNew) = (makeAlone(), true)
        }
        if isNew { writing?.recordFetched([object]) }
        if isNew, awakes(entity, object) { awake([object], of: entity) }
        return object
    }

    /// Applies notes on a row to an object made from an answer; the journal records them for a rollback.
    private func tellNotes(to object: DatabaseObject, _ key: ObjectKey, askedAt: UInt64, _ map: inout IdentityMap) {
        let writing = writing
        guard let replaced = map.tellNotes(to: object, key, askedAt: askedAt, in: writing?.scope) else { return }
        writing?.recordNewerRow(replaced, object.runtime, key, in: self)
    }

    func make(_ seed: ObjectSeed) -> DatabaseObject {
        if let layout = seed.runtime.layout { return layout.type.init(seed) }
        return DatabaseObject(seed)
    }

    func make(_ entity: EntityRuntime, _ row: Row, _ group: FetchGroup?, _ position: Int32) -> DatabaseObject {
        if entity.layout == nil { return DatabaseObject(plain: core, entity, row, group, position) }
        return make(ObjectSeed(core: core, runtime: entity, row: row, group: group, position: position))
    }
}

extension EntityRuntime {
    /// The keys of a result's rows; nil if the entity has no key.
    func keys(of result: QueryResult) throws -> FetchGroup.Elements? {
        if key.isEmpty { return nil }
        if hasIntegerKey, let integers = try integerKeys(of: result) { return .integers(integers) }
        return .keys(try (0..<result.count).map { try ObjectKey(result, $0, key) })
    }

    /// The keys of a result's rows as integers; nil if one is NULL.
    private func integerKeys(of result: QueryResult) throws -> [Int64]? {
        var integers: [Int64] = []
        integers.reserveCapacity(result.count)
        for row in 0..<result.count {
            guard let integer = try result.integer(row: row, column: key[0]) else { return nil }
            integers.append(integer)
        }
        return integers
    }
}

extension DatabaseObject {
    /// Links the object to the group it was read with; the largest group wins.
    fileprivate func join(_ group: FetchGroup, at position: Int32) {
        withState { state in
            guard group.count >= state.group?.count ?? 0 else { return }
            state.group = group
            state.position = position
        }
    }
}

/// The effect of the first access to an object's relationship, for a context.
public enum FaultingMode: Sendable, Hashable {
    /// Loads it for all objects that were read together; the default.
    case batch
    /// Loads it for that object alone.
    case off
    /// Is an error, `KindredError` `.faultingForbidden`, which names entity and relationship: prefetch the
    /// relationship. The same holds for `count`, `isEmpty` and `contains` of a set that is not loaded.
    case forbidden
}
