import KindredPostgres

/// The new objects of a save, and the order in which they can be stored.
struct Insertions {
    let objects: [DatabaseObject]
    let references: SaveReferences
    /// Positions of objects, in groups that can be stored one after the other.
    let levels: [[Int]]
    /// The slots whose references are set when both ends are stored, by position.
    let deferred: [Int: Set<Int>]

    init(_ objects: [DatabaseObject]) throws {
        self.objects = objects
        references = SaveReferences(objects)
        let order = SaveOrder(entities: objects.map(\.runtime.index), edges: references.edges)
        if let first = order.unsolved.first {
            throw KindredError(
                .requiredRelationship,
                """
                New objects of \(objects[first].runtime.name) require each other, so that none can be stored first; make \
                one of their foreign keys nullable
                """,
                entity: objects[first].runtime.name.description
            )
        }
        levels = order.levels
        deferred = references.deferredSlots(order.deferred)
    }
}

/// The references between new objects of a save, by links or by foreign-key values.
struct SaveReferences {
    /// Each object's links to new objects, by slot; empty if there are none at all.
    let links: [[Int: DatabaseObject]]
    private(set) var edges: [SaveOrder.Edge] = []
    /// The slots that the edges come from.
    private var slots: [Int] = []

    init(_ objects: [DatabaseObject]) {
        let hasLinks = objects.contains { object in
            object.withState { $0.stagingBox?.staging.destinations.isEmpty == false }
        }
        links =
            hasLinks
            ? objects.map { object in object.withState { $0.stagingBox?.staging.destinations ?? [:] } } : []
        addLinks(objects)
        addValues(objects)
    }

    private mutating func addLinks(_ objects: [DatabaseObject]) {
        if links.isEmpty { return }
        let positions = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1, $0) })
        for (position, object) in objects.enumerated() {
            for (slot, destination) in links[position] {
                guard let target = positions[destination] else { continue }
                add(from: position, to: target, slot, object, isLink: true)
            }
        }
    }

    /// References by value: to a key that a new object was given.
    private mutating func addValues(_ objects: [DatabaseObject]) {
        struct Unique: Hashable {
            let entity: Int
            let columns: [Int]
        }
        var entities: Set<Int> = []
        var referring: [RelationshipRuntime] = []
        var last: EntityRuntime?
        for object in objects where object.runtime !== last {
            if entities.insert(object.runtime.index).inserted { referring += object.runtime.foreignKeys }
            last = object.runtime
        }
        guard referring.contains(where: { entities.contains($0.destination) }) else { return }
        var known: [Unique: [ObjectKey: Int]] = [:]
        func targets(_ unique: Unique) -> [ObjectKey: Int] {
            if let found = known[unique] { return found }
            var made: [ObjectKey: Int] = [:]
            for (position, object) in objects.enumerated() where object.runtime.index == unique.entity {
                if let key = try? ObjectKey(object.row, unique.columns) { made[key] = position }
            }
            known[unique] = made
            return made
        }
        for (position, object) in objects.enumerated() {
            for relationship in object.runtime.foreignKeys where entities.contains(relationship.destination) {
                guard case .foreignKey(let columns, let referenced) = relationship.link,
                    let key = try? ObjectKey(object.row, columns),
                    let target = targets(Unique(entity: relationship.destination, columns: referenced))[key],
                    target != position
                else { continue }
                add(from: position, to: target, relationship.slot, object, isLink: false)
            }
        }
    }

    /// A reference by value was given in full, and rows may rely on it: it is deferred only as a last resort.
    private mutating func add(from: Int, to: Int, _ slot: Int, _ object: DatabaseObject, isLink: Bool) {
        let entity = object.runtime
        edges.append(
            SaveOrder.Edge(
                from: from,
                to: to,
                kind: entity.index << 16 | slot,
                isOptional: mayWait(slot, of: object),
                isLastResort: !isLink
            )
        )
        slots.append(slot)
    }

    /// Whether an object can be stored without a reference: columns shared with other keys, such as a tenant's, must be
    /// known without it.
    private func mayWait(_ slot: Int, of object: DatabaseObject) -> Bool {
        let entity = object.runtime
        let columns = entity.relationships[slot].ownColumns
        guard entity.leavingColumns(of: columns) != nil else { return false }
        let own = entity.ownColumns(of: columns)
        if own.count == columns.count { return true }
        let row = object.row
        return columns.allSatisfy { own.contains($0) || !row.isNull(at: $0) }
    }

    /// The positions of the new objects that must be stored before each object.
    func needed(without deferred: [Int: Set<Int>]) -> [Int: [Int]] {
        var needed: [Int: [Int]] = [:]
        for (edge, slot) in zip(edges, slots) where deferred[edge.from]?.contains(slot) != true {
            needed[edge.from, default: []].append(edge.to)
        }
        return needed
    }

    /// The slots whose references are set afterwards, for each object that has some.
    func deferredSlots(_ deferred: Set<Int>) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for position in deferred { result[edges[position].from, default: []].insert(slots[position]) }
        return result
    }
}
