import KindredPostgres
import KindredSchema

/// The new objects of a save, and the order in which they can be stored.
struct Insertions {
    let objects: [DatabaseObject]
    let references: SaveReferences
    /// Positions of objects, in groups that can be stored one after the other.
    let levels: [[Int]]
    /// The slots whose references are set when both ends are stored, by position.
    let deferred: [Int: Set<Int>]
    /// Positions of objects that one statement must store together with all other objects of their level.
    let joint: Set<Int>
    /// The foreign keys to check when all objects are stored.
    let constraints: [QualifiedName]
    private let order: SaveOrder

    init(_ objects: [DatabaseObject]) throws {
        self.objects = objects
        references = SaveReferences(objects)
        let order = SaveOrder(entities: objects.map(\.runtime.index), edges: references.edges)
        if let first = order.unsolved.first {
            throw KindredError(
                .requiredRelationship,
                """
                New objects of \(objects[first].runtime.name) require each other, so that none can be stored first; make \
                one of their foreign keys nullable, or give the objects their keys and make a foreign key DEFERRABLE
                """,
                entity: objects[first].runtime.name.description
            )
        }
        levels = order.levels
        deferred = references.deferredSlots(order.deferred)
        joint = Set(order.joint.keys)
        self.order = order
        constraints = references.constraints(order.unchecked)
    }
}

extension Insertions {
    /// The positions of the new objects that must be stored before each object.
    var needed: [Int: [Int]] { references.needed(order) }
}

/// The references between new objects of a save, by links or by foreign-key values.
struct SaveReferences {
    /// Each object's links to new objects, by slot; empty if there are none at all.
    let links: [[Int: DatabaseObject]]
    private(set) var edges: [SaveOrder.Edge] = []
    /// The relationships that the edges come from.
    private var relationships: [RelationshipRuntime] = []

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
                let relationship = object.runtime.relationships[slot]
                let values = destination.row
                let isKnown = relationship.otherColumns.allSatisfy { !values.isNull(at: $0) }
                // A row that refers to itself needs nothing but its key, unless the server may change that.
                if target == position, isKnown,
                    !destination.runtime.mayStoreOthers(than: values, in: relationship.otherColumns)
                        || !mayWait(relationship, of: object)
                {
                    continue
                }
                add(from: position, to: target, relationship, object, isLink: true, isKnown: isKnown)
            }
        }
    }

    /// References by value: to a key that a new object was given.
    private mutating func addValues(_ objects: [DatabaseObject]) {
        struct Unique: Hashable {
            let entity: EntityRuntime
            let columns: [Int]
        }
        var entities: Set<EntityRuntime> = []
        var referring: [RelationshipRuntime] = []
        var last: EntityRuntime?
        for object in objects where object.runtime !== last {
            if entities.insert(object.runtime).inserted { referring += object.runtime.foreignKeys }
            last = object.runtime
        }
        guard referring.contains(where: { entities.contains($0.destination) }) else { return }
        var known: [Unique: [ObjectKey: Int]] = [:]
        func targets(_ unique: Unique) -> [ObjectKey: Int] {
            if let found = known[unique] { return found }
            var made: [ObjectKey: Int] = [:]
            for (position, object) in objects.enumerated() where object.runtime == unique.entity {
                if let key = try? ObjectKey(object.row, unique.columns) { made[key] = position }
            }
            known[unique] = made
            return made
        }
        for (position, object) in objects.enumerated() {
            for relationship in object.runtime.foreignKeys where entities.contains(relationship.destination) {
                guard let key = try? ObjectKey(object.row, relationship.ownColumns) else { continue }
                let known = targets(Unique(entity: relationship.destination, columns: relationship.otherColumns))
                // If only the server can compare the values, any target may be the right one.
                let mayEqual = relationship.isComparedByServer && known.count <= 100 ? Array(known.values) : []
                for target in known[key].map({ [$0] }) ?? mayEqual where target != position {
                    add(
                        from: position, to: target, relationship, object, isLink: false, isKnown: true,
                        isGuess: known[key] == nil)
                }
            }
        }
    }

    /// A reference by value was given in full, and rows may rely on it: it is deferred only as a last resort.
    private mutating func add(
        from: Int, to: Int, _ relationship: RelationshipRuntime, _ object: DatabaseObject, isLink: Bool, isKnown: Bool,
        isGuess: Bool = false
    ) {
        edges.append(
            SaveOrder.Edge(
                from: from,
                to: to,
                kind: object.runtime.index << 16 | relationship.slot,
                isOptional: mayWait(relationship, of: object),
                isLastResort: !isLink,
                isKnown: isKnown,
                isDeferrable: relationship.model.checkTime != .statement,
                isGuess: isGuess
            )
        )
        relationships.append(relationship)
    }

    /// Whether an object can be stored without a reference: columns shared with other keys, such as a tenant's, must be
    /// known without it.
    private func mayWait(_ relationship: RelationshipRuntime, of object: DatabaseObject) -> Bool {
        let (entity, columns) = (object.runtime, relationship.ownColumns)
        guard entity.leavingColumns(of: columns) != nil else { return false }
        let own = entity.ownColumns(of: columns)
        if own.count == columns.count { return true }
        let row = object.row
        return columns.allSatisfy { own.contains($0) || !row.isNull(at: $0) }
    }

    /// The positions of the new objects that must be stored before each object.
    func needed(_ order: SaveOrder) -> [Int: [Int]] {
        var needed: [Int: [Int]] = [:]
        for (position, edge) in edges.enumerated() {
            if order.deferred.contains(position) || order.unchecked.contains(position) { continue }
            if let number = order.joint[edge.from], order.joint[edge.to] == number { continue }
            needed[edge.from, default: []].append(edge.to)
        }
        return needed
    }

    /// The constraints to defer, so that some references are checked later.
    func constraints(_ positions: Set<Int>) -> [QualifiedName] {
        Set(positions.flatMap { relationships[$0].model.checkTime.constraints }).sorted()
    }

    /// The slots whose references are set afterwards, for each object that has some.
    func deferredSlots(_ deferred: Set<Int>) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for position in deferred { result[edges[position].from, default: []].insert(relationships[position].slot) }
        return result
    }
}
