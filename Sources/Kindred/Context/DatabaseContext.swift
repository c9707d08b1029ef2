import KindredPostgres
public import KindredSchema
import Synchronization

/// A unit of work over a database: the objects it has handed out, one per row, and the relationships they have loaded.
///
/// Cheap to make, so a server makes one per request. It sees the database as it is: nothing is cached beyond the objects
/// that somebody holds and the relationships those have loaded. `Sendable`: any task may use it and its objects.
public final class DatabaseContext: Sendable {
    /// The database that the context works on.
    public let database: Database
    package let runtime: SchemaRuntime
    let map: Mutex<IdentityMap>
    /// Rows of changed objects that went out of memory and that the map has not taken in yet.
    ///
    /// A leaf lock: an object's `deinit` may run anywhere, also under the map's lock.
    private let leftRows = Mutex<[LeftRow]>([])
    /// Counts changes: an answer that was asked for before a change does not overwrite it.
    private let clock = Atomic<UInt64>(1)
    let writeLock = AsyncGate()
    /// What is not saved yet.
    ///
    /// Its lock may be held when an object's is taken, never the other way round.
    let staged = Mutex(StagedChanges())

    init(database: Database, runtime: SchemaRuntime) {
        self.database = database
        self.runtime = runtime
        map = Mutex(IdentityMap(entityCount: runtime.entities.count))
    }

    /// The model that the context was made with.
    public var schema: DatabaseSchema { runtime.schema }

    var client: PostgresClient { database.client }

    /// The time of asking, to be given to `apply` with the answer.
    var now: UInt64 { clock.load(ordering: .acquiring) }

    /// The time of a change, later than every asking before it.
    func tick() -> UInt64 { clock.add(1, ordering: .acquiringAndReleasing).newValue }

    func leave(_ row: LeftRow) {
        leftRows.withLock { $0.append(row) }
    }

    /// Runs `body` on the identity map, with what vanished objects left behind taken in first.
    func withMap<T: Sendable>(_ body: (inout IdentityMap) throws -> T) rethrows -> T {
        let left = leftRows.withLock { rows in
            guard !rows.isEmpty else { return [LeftRow]() }
            defer { rows = [] }
            return rows
        }
        return try map.withLock { map in
            for row in left { map.keepLatestRow(row) }
            return try body(&map)
        }
    }

    /// The live object of a key, without I/O.
    package func liveObject(_ entity: EntityRuntime, _ key: ObjectKey) -> DatabaseObject? {
        withMap { $0.object(entity.index, key) }
    }
}

extension DatabaseContext {
    /// The objects of a result whose columns are the entity's attributes in order: known rows give their objects,
    /// refreshed; new ones make objects.
    package func objects(
        from result: QueryResult,
        of entity: EntityRuntime,
        askedAt: UInt64
    ) throws -> [DatabaseObject] {
        var known: [(DatabaseObject, Row)] = []
        let objects = try withMap { map in
            var objects: [DatabaseObject] = []
            objects.reserveCapacity(result.count)
            for position in 0..<result.count {
                let row = result.row(at: position)
                if let key = entity.key.isEmpty ? nil : try ObjectKey(row, entity.key) {
                    if let object = map.object(entity.index, key) {
                        known.append((object, row))
                        objects.append(object)
                        continue
                    }
                    _ = map.takeLatestRow(entity.index, key)
                    map.setDeleted(false, entity.index, key)
                    let object = make(entity, row)
                    map.insert(object, entity.index, key)
                    objects.append(object)
                } else {
                    objects.append(make(entity, row))
                }
            }
            return objects
        }
        for (object, row) in known { try apply(row, to: object, askedAt: askedAt) }
        if objects.count > 1 { group(objects) }
        TransactionJournal.current?.recordFetched(objects)
        return objects
    }

    /// Objects that were fetched together load their relationships together; the largest group counts.
    private func group(_ objects: [DatabaseObject]) {
        let group = LoadGroup(objects: objects)
        for (position, object) in objects.enumerated() {
            object.withState { state in
                guard objects.count >= state.group?.count ?? 0 else { return }
                state.group = group
                state.position = Int32(clamping: position)
            }
        }
    }

    /// The objects of loaded members, made from their rows where nobody holds them.
    func objects(_ members: [Member], of entity: EntityRuntime, group: LoadGroup?) -> [DatabaseObject] {
        withMap { map in
            members.map { member in
                if entity.key.isEmpty { return make(entity, member.row) }
                if let object = map.object(entity.index, member.key) { return object }
                let object = make(entity, map.takeLatestRow(entity.index, member.key) ?? member.row)
                object.withState { state in
                    state.group = group
                    state.position = member.position
                }
                map.insert(object, entity.index, member.key)
                return object
            }
        }
    }

    private func make(_ entity: EntityRuntime, _ row: Row) -> DatabaseObject {
        DatabaseObject(ObjectSeed(context: self, runtime: entity, row: row))
    }
}
