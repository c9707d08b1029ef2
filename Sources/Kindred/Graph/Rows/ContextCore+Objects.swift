package import KindredPostgres
import Synchronization

// The door for rows that were read, as objects.
extension ContextCore {
    /// The objects of a result whose first columns are the entity's attributes: known objects, refreshed, and new
    /// objects.
    package func take(
        _ result: QueryResult,
        of entity: EntityRuntime,
        askedAt: ContextTime
    ) throws -> [DatabaseObject] {
        if result.count == 1 { return [try take(result, row: 0, of: entity, askedAt: askedAt)] }
        // Columns after the attributes belong to the request.
        let rows = try EntityRows(result, of: entity)
        let keys = try entity.keys(of: result)
        let group = result.count == 0 ? nil : keys.map { FetchGroup($0, askedAt: askedAt) }
        func make(_ position: Int) throws -> DatabaseObject {
            self.make(entity, try rows[position], in: group, at: Int32(clamping: position))
        }
        let counted = counted(askedAt)
        let (objects, known) = try withMap { map in
            switch keys {
            case .integers(let integers):
                let (objects, known) = try map.objects(entity, integers, orMake: make)
                if map.log.hasEntries(of: entity) || map.isDeletingAny(of: entity) {
                    let old = Set(known)
                    for position in objects.indices where !old.contains(position) {
                        bringUpToDate(objects[position], .integer(integers[position]), askedAt: counted, in: &map)
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
                        bringUpToDate(object, key, askedAt: counted, in: &map)
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
            try take(rows[position], for: objects[position], readAt: askedAt)
            if let group { objects[position].join(group, at: Int32(clamping: position)) }
        }
        if keys == nil, objects.count > 1 {
            let held = objects.map { WeakObject(object: $0) }
            let group = FetchGroup(
                .unkeyed(count: held.count) { held[$0].object?.storedRow }, askedAt: askedAt)
            for (position, object) in objects.enumerated() { object.join(group, at: Int32(clamping: position)) }
        }
        guard let first = objects.first, known.count < objects.count else { return objects }
        writing?.recordFetched(Self.new(among: objects, known))
        if following != nil { arrived(Self.new(among: objects, known), of: entity, askedAt: askedAt) }
        if awakes(entity, first) { awake(Self.new(among: objects, known), of: entity) }
        return objects
    }

    /// Has new objects of an answer asked for again that may be older than changes which were left out.
    private func arrived(_ objects: [DatabaseObject], of entity: EntityRuntime, askedAt: ContextTime) {
        guard let following, following.hasLeftOut(entity, since: askedAt) else { return }
        following.arrived(objects.compactMap(\.key), of: entity, at: now)
    }

    /// The objects that were not known before.
    private static func new(among objects: [DatabaseObject], _ known: [Int]) -> [DatabaseObject] {
        if known.isEmpty { return objects }
        let old = Set(known)
        return objects.indices.filter { !old.contains($0) }.map { objects[$0] }
    }

    /// The object of one row, as above for many rows; apart because look-ups by key are the most frequent call.
    func take(
        _ result: QueryResult, row position: Int, of entity: EntityRuntime, askedAt: ContextTime
    ) throws -> DatabaseObject {
        let row = try EntityRows(result, of: entity)[position]
        func makeAlone() -> DatabaseObject {
            let object = make(entity, row, in: nil, at: 0)
            object.withState { $0.seenAt = askedAt }
            return object
        }
        var (object, isNew): (DatabaseObject, Bool)
        if !entity.key.isEmpty, let key = try ObjectKey(row, entity.key) {
            let counted = counted(askedAt)
            (object, isNew) = withMap { map in
                let found = map.object(entity, key) { makeAlone() }
                if found.isNew { bringUpToDate(found.object, key, askedAt: counted, in: &map) }
                return found
            }
            if !isNew { try take(row, for: object, readAt: askedAt) }
        } else {
            (object, isNew) = (makeAlone(), true)
        }
        if isNew { writing?.recordFetched([object]) }
        if isNew, following != nil { arrived([object], of: entity, askedAt: askedAt) }
        if isNew, awakes(entity, object) { awake([object], of: entity) }
        return object
    }

    func make(_ seed: ObjectSeed) -> DatabaseObject {
        if let layout = seed.runtime.layout { return layout.objectClass.objectType.init(seed) }
        return DatabaseObject(seed)
    }

    func make(_ entity: EntityRuntime, _ row: Row, in group: FetchGroup?, at position: Int32) -> DatabaseObject {
        if entity.layout == nil { return DatabaseObject(plain: self, entity, row, in: group, at: position) }
        return make(ObjectSeed(core: self, runtime: entity, row: row, group: group, position: position))
    }
}

extension EntityRuntime {
    /// The keys of a result's rows; nil if the entity has no key.
    func keys(of result: QueryResult) throws -> FetchGroup.Elements? {
        if key.isEmpty { return nil }
        if hasIntegerKey, let integers = try result.integers(column: key[0]) { return .integers(integers) }
        return .keys(try (0..<result.count).map { try ObjectKey(result, row: $0, key) })
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
