import KindredPostgres
public import KindredSchema
import Synchronization

/// A unit of work over a database: the objects it has handed out, one per row, and the relationships they have loaded.
///
/// Cheap to make, so a server makes one per request. It sees the database as it is: nothing is cached beyond the objects
/// that the program holds and the relationships those have loaded. `Sendable`: any task may use it and its objects.
///
/// Hold it until what is staged is saved. When the last reference to it goes, changes of objects that the program does not
/// hold are given up, which the log says once; objects that it holds go on to work, and keep what is staged on them.
public final class DatabaseContext: Sendable {
    let core: ContextCore

    /// Whether it has what was staged while the program held no context.
    private let takesUp: Bool

    /// Made by the core, which knows of each.
    init(_ core: ContextCore, takesUp: Bool = true) { (self.core, self.takesUp) = (core, takesUp) }

    deinit { core.letGo(takesUp: takesUp) }

    /// The database that the context works on.
    public var database: Database { core.database }

    package var runtime: SchemaRuntime { core.runtime }

    /// What the first access to a relationship does.
    public var faulting: FaultingMode { core.faulting }

    /// The model that the context was made with.
    public var schema: DatabaseSchema { runtime.schema }

    /// The types of the database, by which values are encoded.
    var types: TypeRegistry { database.types }

    /// What remembers changes while the task is in a transaction.
    var journal: TransactionJournal? { TransactionJournal.current(of: database) }

    /// The time of asking, to be given to `apply` with the answer.
    var now: UInt64 { core.clock.load(ordering: .acquiring) }

    /// The time of asking for what may take long to arrive, earlier than every asking after it.
    func beginReading() -> UInt64 { core.clock.add(1, ordering: .acquiringAndReleasing).oldValue }

    /// The time of a change, later than every asking before it.
    func tick() -> UInt64 { core.clock.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Whether nothing was noted since a time.
    func isQuiet(since time: UInt64) -> Bool { core.notedAt.load(ordering: .acquiring) <= time }

    /// How many transactions that changed the context were undone.
    var undoCount: UInt64 { core.undone.load(ordering: .acquiring) }

    /// Notes something of rows or relationships, at a time of its own.
    ///
    /// The time is taken under the map's lock, as readers take theirs: whoever looked before it sees the note next time.
    func note<T: Sendable>(_ body: (inout IdentityMap, UInt64) -> T) -> T {
        journal?.touch(self)
        return withMap { map in
            let time = tick()
            defer { core.notedAt.store(time, ordering: .releasing) }
            return body(&map, time)
        }
    }

    /// Says that rows of an entity went without each being named, or, where they are in doubt, may have.
    func noteLostRows(of entity: Int, areInDoubt: Bool = false) {
        let (before, time) = note { map, time in (map.noteLostRows(entity, at: time, areInDoubt: areInDoubt), time) }
        journal?.recordLostRows(before, entity, at: time, in: self)
        noteWrittenThrough(runtime.entities[entity])
    }

    /// Says that a transaction begins to change the context.
    func begin(_ root: TransactionScope) {
        core.times.withLock { $0.begin(root, at: tick()) }
        core.hasTransactions.store(true, ordering: .releasing)
    }

    /// Says that a transaction has been committed or rolled back.
    func end(_ root: TransactionScope) {
        core.times.withLock { $0.end(root, at: tick()) }
    }

    /// Says that a transaction, or a savepoint's scope, was undone: what is shown is made anew from what was answered.
    func noteUndone() {
        note { _, _ in _ = core.undone.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The time that counts for what the task asked for: see ``TransactionTimes``.
    func counted(_ askedAt: UInt64) -> UInt64 {
        guard core.hasTransactions.load(ordering: .acquiring) else { return askedAt }
        let root = journal?.scope.root
        return core.times.withLock { $0.counted(askedAt, in: root) }
    }

    /// Whether a transaction runs that the task is not in and that has changed the context.
    var isBesideTransaction: Bool {
        guard core.hasTransactions.load(ordering: .acquiring) else { return false }
        let root = journal?.scope.root
        return core.times.withLock { $0.isRunning(besides: root) }
    }

    /// Runs `body` on the identity map, with what vanished objects left behind taken in first.
    func withMap<T: Sendable>(_ body: (inout IdentityMap) throws -> T) rethrows -> T { try core.withMap(body) }

    /// Forgets what is noted of all rows: whatever was asked for before is asked for again.
    func forgetAllNotes() {
        for entity in runtime.entities.indices where withMap({ $0.knows(entity) }) {
            note { map, time in map.forgetNotes(of: entity, at: time) }
        }
    }

    /// The live object of a key, without I/O.
    package func liveObject(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        if case .temporary = key { return withMap { $0.object(entity.index, key) } }
        return core.references.object(entity.index, key)
    }
}

extension DatabaseContext {
    /// The objects of a result whose first columns are the entity's attributes: known rows give their objects,
    /// refreshed; new ones make objects.
    package func objects(
        from result: QueryResult,
        of entity: EntityRuntime,
        askedAt: UInt64
    ) throws -> [DatabaseObject] {
        if result.count == 1 { return [try object(from: result, row: 0, of: entity, askedAt: askedAt)] }
        // What follows the attributes belongs to the request.
        let rows = try EntityRows(result, of: entity)
        let keys = try entity.keys(of: result)
        let group = result.count == 0 ? nil : keys.map { LoadGroup($0, askedAt: askedAt) }
        func make(_ position: Int) throws -> DatabaseObject {
            self.make(entity, try rows[position], group, Int32(clamping: position))
        }
        let counted = counted(askedAt)
        let (objects, known) = try withMap { map in
            switch keys {
            case .integers(let integers):
                let (objects, known) = try map.objects(entity.index, integers, orMake: make)
                if map.hasNotes(entity.index) {
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
                    let (object, isNew) = try map.object(entity.index, key) { try make(position) }
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
            let group = LoadGroup(
                .objects(objects.map { LoadGroup.WeakObject(object: $0) }), askedAt: askedAt)
            for (position, object) in objects.enumerated() { object.join(group, at: Int32(clamping: position)) }
        }
        guard let first = objects.first, known.count < objects.count else { return objects }
        journal?.recordFetched(Self.new(among: objects, known))
        if awakes(entity, first) { awake(Self.new(among: objects, known), of: entity) }
        return objects
    }

    /// The objects that were not known before.
    private static func new(among objects: [DatabaseObject], _ known: [Int]) -> [DatabaseObject] {
        if known.isEmpty { return objects }
        let old = Set(known)
        return objects.indices.filter { !old.contains($0) }.map { objects[$0] }
    }

    /// The object of one row of a result, as `objects` gives them: look-ups by key are what most programs do most.
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
                let found = map.object(entity.index, key) { makeAlone() }
                if found.isNew { tellNotes(to: found.object, key, askedAt: counted, &map) }
                return found
            }
            if !isNew { try apply(row, to: object, askedAt: askedAt) }
        } else {
            (object, isNew) = (makeAlone(), true)
        }
        if isNew { journal?.recordFetched([object]) }
        if isNew, awakes(entity, object) { awake([object], of: entity) }
        return object
    }

    /// Tells an object that was made from an answer what was noted of its row, which a transaction may put back.
    private func tellNotes(to object: DatabaseObject, _ key: ObjectKey, askedAt: UInt64, _ map: inout IdentityMap) {
        guard let replaced = map.tellNotes(to: object, key, askedAt: askedAt) else { return }
        journal?.recordLatestRow(replaced, object.runtime.index, key, in: self)
    }

    func make(_ seed: ObjectSeed) -> DatabaseObject {
        if let layout = seed.runtime.layout { return layout.type.init(seed) }
        return DatabaseObject(seed)
    }

    func make(_ entity: EntityRuntime, _ row: Row, _ group: LoadGroup?, _ position: Int32) -> DatabaseObject {
        if entity.layout == nil { return DatabaseObject(plain: core, entity, row, group, position) }
        return make(ObjectSeed(core: core, runtime: entity, row: row, group: group, position: position))
    }
}

extension EntityRuntime {
    /// The keys of a result's rows; nil if the entity has no key.
    func keys(of result: QueryResult) throws -> LoadGroup.Elements? {
        if key.isEmpty { return nil }
        if hasIntegerKey, let integers = try integerKeys(of: result) { return .integers(integers) }
        return .keys(try (0..<result.count).map { try ObjectKey(result, $0, key) })
    }

    /// The keys of a result's rows, each one integer; nil if one is NULL.
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
    /// Notes what the object was read with; the largest group counts.
    fileprivate func join(_ group: LoadGroup, at position: Int32) {
        withState { state in
            guard group.count >= state.group?.count ?? 0 else { return }
            state.group = group
            state.position = position
        }
    }
}
