import KindredPostgres

/// The order in which new objects are stored: a topological sort, referenced objects first.
///
/// Objects of one entity stay together as far as the references allow, since each group is one statement. References in
/// a cycle are left out where they may be NULL, and set when both ends are stored. Objects of one entity that require each
/// other are stored by one statement, after which the server checks their foreign keys; where constraints can be deferred,
/// no order is needed.
///
/// Pure: works on numbers, so that it can be tested without a database.
struct SaveOrder {
    /// A new object that references another new object of the same save.
    struct Edge: Sendable {
        /// The referencing object.
        let from: Int
        /// The referenced object, which is stored first.
        let to: Int
        /// The kind of reference, such as a number for the foreign key.
        let kind: Int
        /// Whether the reference may be NULL at first.
        let isOptional: Bool
        /// Whether it is NULL at first only if the objects could not be stored otherwise.
        var isLastResort = false
        /// Whether the referenced values are known before either object is stored.
        var isKnown = false
        /// Whether the foreign key can be checked at the end of the transaction.
        var isDeferrable = false
        /// Whether only the server can tell if there is a reference at all.
        var isGuess = false
    }

    /// The objects in groups that can be stored one after the other; objects of one group do not reference each other.
    private(set) var levels: [[Int]] = []
    /// Positions of the edges that must be set afterwards.
    private(set) var deferred: Set<Int> = []
    /// Positions of the edges whose foreign keys are checked when all objects are stored.
    private(set) var unchecked: Set<Int> = []
    /// Objects that must be stored by one statement together with all objects of the same number.
    private(set) var joint: [Int: Int] = [:]
    /// Objects that cannot be stored because they require each other; empty if all can.
    private(set) var unsolved: [Int] = []

    private let entities: [Int]
    private let edges: [Edge]
    /// Positions of edges by their referencing object; empty if there are none.
    private var outgoing: [[Int]]
    /// For each object the number of the group in which it was ordered; 0 before that.
    private var groups: [Int]
    private var groupCount = 0
    /// For each object the number of references that must still be stored.
    private var waits: [Int]
    private var isDone: [Bool]
    /// More levels than this within one entity are merged into one level, with the references set afterwards.
    static let maximumLevels = 8

    /// - Parameters:
    ///   - entities: each object's entity.
    ///   - edges: the references between objects.
    init(entities: [Int], edges: [Edge]) {
        self.entities = entities
        self.edges = edges
        outgoing = edges.isEmpty ? [] : Array(repeating: [], count: entities.count)
        groups = Array(repeating: 0, count: entities.count)
        waits = groups
        isDone = Array(repeating: false, count: entities.count)
        for (position, edge) in edges.enumerated() { outgoing[edge.from].append(position) }
        solve()
    }

    private mutating func solve() {
        var members: [Int: [Int]] = [:]
        var start = 0
        while start < entities.count {
            let end = entities[start...].firstIndex { $0 != entities[start] } ?? entities.count
            members[entities[start], default: []] += start..<end
            start = end
        }
        var waitsFor: [Int: Set<Int>] = [:]
        for edge in edges where entities[edge.from] != entities[edge.to] {
            waitsFor[entities[edge.from], default: []].insert(entities[edge.to])
        }
        // Entities in the order of their first objects, as far as no cycle of entities prevents it.
        var left = members.keys.sorted { members[$0]?.first ?? 0 < members[$1]?.first ?? 0 }
        while let next = left.firstIndex(where: { waitsFor[$0, default: []].isDisjoint(with: left) }) {
            solve(members[left.remove(at: next)] ?? [])
        }
        let rest = left.flatMap { members[$0] ?? [] }.sorted()
        if !rest.isEmpty { solve(rest) }
    }

    /// Orders objects that reference each other; all other objects that they reference are stored already.
    private mutating func solve(_ objects: [Int]) {
        groupCount += 1
        for object in objects { groups[object] = groupCount }
        let isOneEntity = objects.allSatisfy { entities[$0] == entities[objects[0]] }
        var referrers: [Int: [Int]] = [:]
        var inner: [Int] = []
        for object in edges.isEmpty ? [] : objects {
            for position in outgoing[object] where groups[edges[position].to] == groupCount {
                inner.append(position)
                waits[object] += 1
                referrers[edges[position].to, default: []].append(position)
            }
        }
        var doneCount = 0
        var found: [[Int]] = []
        var ready = objects.filter { waits[$0] == 0 }
        while doneCount < objects.count {
            let isDeep = isOneEntity && found.count >= Self.maximumLevels
            if ready.isEmpty || isDeep {
                let waiting = mostFrequentKind(inner.filter { mayWait($0, isLastResort: ready.isEmpty) })
                let joined = waiting.isEmpty && ready.isEmpty ? jointObjects(among: objects) : []
                let isAlone = ready.isEmpty && joined.isEmpty
                let late = waiting.isEmpty && isAlone ? mostFrequentKind(inner.filter(mayBeCheckedLate)) : []
                if !waiting.isEmpty || !late.isEmpty {
                    deferred.formUnion(waiting)
                    unchecked.formUnion(late)
                    for position in waiting + late { waits[edges[position].from] -= 1 }
                    let known = Set(ready)
                    ready = objects.filter {
                        waits[$0] == 0 && !isDone[$0] || known.contains($0)
                    }
                    continue
                }
                if isAlone {
                    unsolved += objects.filter { !isDone[$0] }
                    return
                }
                if ready.isEmpty {
                    let number = joint.count
                    for object in joined { joint[object] = number }
                    ready = joined
                }
            }
            found.append(ready)
            doneCount += ready.count
            for object in ready { isDone[object] = true }
            if referrers.isEmpty { break }
            var next: [Int] = []
            for object in ready {
                for position in referrers[object] ?? [] where isWaited(position) {
                    let from = edges[position].from
                    waits[from] -= 1
                    if waits[from] == 0 { next.append(from) }
                }
            }
            ready = next.sorted()
        }
        levels += found
    }

    /// The open edges of the kind that frees the most objects.
    private func mostFrequentKind(_ positions: [Int]) -> [Int] {
        let kinds = Dictionary(grouping: positions.filter(isOpen)) { edges[$0].kind }
        return kinds.min { ($1.value.count, $0.key) < ($0.value.count, $1.key) }?.value ?? []
    }

    /// Objects of one entity that wait for each other alone, by values that are known: one statement can store them.
    private func jointObjects(among objects: [Int]) -> [Int] {
        let open = Dictionary(grouping: objects.filter { !isDone[$0] }) { entities[$0] }
        for (_, objects) in open.sorted(by: { $0.key < $1.key }) {
            var members = Set(objects)
            var count = 0
            while count != members.count {
                count = members.count
                members = members.filter { object in
                    outgoing[object].allSatisfy { position in
                        !isOpen(position) || edges[position].isKnown && members.contains(edges[position].to)
                    }
                }
            }
            if !members.isEmpty { return members.sorted() }
        }
        return []
    }

    private func mayBeCheckedLate(_ position: Int) -> Bool {
        edges[position].isKnown && (edges[position].isDeferrable || edges[position].isGuess)
    }

    /// Whether the referencing object of an edge has waited for the referenced object, which is stored now.
    private func isWaited(_ position: Int) -> Bool {
        !deferred.contains(position) && !unchecked.contains(position) && !isDone[edges[position].from]
    }

    private func mayWait(_ position: Int, isLastResort: Bool) -> Bool {
        edges[position].isOptional && (isLastResort || !edges[position].isLastResort)
    }

    /// Whether one object must still wait for another because of a reference.
    private func isOpen(_ position: Int) -> Bool {
        isWaited(position) && !isDone[edges[position].to]
    }
}
