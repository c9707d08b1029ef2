import KindredPostgres
import KindredSchema

/// Puts entities into groups: by annotation, by schema, and by relationships.
struct DiagramGrouping {
    /// Sorted by name.
    private let entities: [Entity]
    private let neighbours: [QualifiedName: [QualifiedName]]
    private let related: Set<QualifiedName>
    private let isCut: Bool

    /// The fewest entities of a part that has a frame of its own in a diagram that is cut.
    private static let smallestPart = 4
    /// The most smaller parts that have frames of their own all the same.
    private static let mostSmallParts = 2

    /// - Parameters:
    ///   - entities: The entities, sorted by name.
    ///   - edges: The lines between them.
    ///   - hubs: The entities whose lines do not connect other entities if the diagram is cut.
    ///   - isCut: Whether only lines within a group are drawn.
    init(entities: [Entity], edges: [Diagram.Edge], hubs: Set<QualifiedName>, isCut: Bool) {
        var neighbours: [QualifiedName: [QualifiedName]] = [:]
        var related: Set<QualifiedName> = []
        for edge in edges where edge.from.entity != edge.to.entity {
            related.formUnion([edge.from.entity, edge.to.entity])
            if isCut, hubs.contains(edge.from.entity) != hubs.contains(edge.to.entity) { continue }
            neighbours[edge.from.entity, default: []].append(edge.to.entity)
            neighbours[edge.to.entity, default: []].append(edge.from.entity)
        }
        self.entities = entities
        self.neighbours = neighbours
        self.related = related
        self.isCut = isCut
    }

    /// The groups of a diagram.
    ///
    /// - Parameter byPart: Whether entities that relationships connect are a group, too.
    func groups(byPart: Bool) -> [Diagram.Group] {
        let hasSchemas = Set(entities.map(\.name.schema)).count > 1
        var annotated: [(title: String, members: [QualifiedName])] = []
        var schemas: [(title: String, members: [QualifiedName])] = []
        var others: [QualifiedName] = []
        for entity in entities {
            if let group = entity.group {
                Self.add(entity.name, to: group, in: &annotated)
            } else if hasSchemas {
                Self.add(entity.name, to: entity.name.schema, in: &schemas)
            } else {
                others.append(entity.name)
            }
        }
        annotated.sort { $0.title < $1.title }
        let frames =
            annotated.map { (title: $0.title, kind: Diagram.Group.Kind.annotation, members: $0.members) }
            + schemas.map { (title: $0.title, kind: .schema, members: $0.members) }
        // A way through entities of another frame connects, too, if lines lead there.
        let everywhere = isCut ? nil : parts(of: Set(entities.map(\.name)))
        var groups = frames.map { frame in
            let parts = byPart ? parts(of: frame.members, everywhere) : []
            // One part that is everything says nothing.
            if parts.count < 2 {
                return Diagram.Group(title: frame.title, kind: frame.kind, members: frame.members, groups: [])
            }
            return Diagram.Group(title: frame.title, kind: frame.kind, members: [], groups: parts)
        }
        if byPart { groups += parts(of: others, everywhere) }
        return groups
    }

    private static func add(
        _ name: QualifiedName, to title: String, in groups: inout [(title: String, members: [QualifiedName])]
    ) {
        if let place = groups.firstIndex(where: { $0.title == title }) {
            groups[place].members.append(name)
        } else {
            groups.append((title, [name]))
        }
    }

    /// The parts of some entities that relationships connect, the largest first; then the entities of parts that are
    /// too small, and the entities that no relationship connects to anything.
    private func parts(of members: [QualifiedName], _ everywhere: [QualifiedName: Int]?) -> [Diagram.Group] {
        let numbers = everywhere ?? parts(of: Set(members))
        var parts: [Int: [QualifiedName]] = [:]
        var (small, alone): ([[QualifiedName]], [QualifiedName]) = ([], [])
        for name in members {
            if let number = numbers[name] {
                parts[number, default: []].append(name)
            } else if related.contains(name) {
                small.append([name])
            } else {
                alone.append(name)
            }
        }
        var pieces = Array(parts.values)
        if isCut {
            pieces = pieces.flatMap { DiagramParts.split($0, neighbours) }
            let few = pieces.filter { $0.count < Self.smallestPart }
            if few.count > Self.mostSmallParts {
                small += few
                pieces.removeAll { $0.count < Self.smallestPart }
            }
            if !small.isEmpty, alone.count < Self.smallestPart {
                small += alone.map { [$0] }
                alone = []
            }
        }
        var groups = pieces.map { part in
            // The entity with most lines gives the part its title.
            let heart = part.max { (neighbours[$0]?.count ?? 0, $1) < (neighbours[$1]?.count ?? 0, $0) }
            return Diagram.Group(title: (heart ?? part[0]).name, kind: .part, members: part, groups: [])
        }
        groups.sort {
            $0.members.count != $1.members.count
                ? $0.members.count > $1.members.count : $0.members[0] < $1.members[0]
        }
        for (place, others) in DiagramParts.gather(small).enumerated() {
            let title = place == 0 ? "others" : "others \(place + 1)"
            groups.append(Diagram.Group(title: title, kind: .part, members: others, groups: []))
        }
        if !alone.isEmpty {
            groups.append(Diagram.Group(title: "no relationships", kind: .unconnected, members: alone, groups: []))
        }
        return groups
    }

    /// The number of the connected part that each of some entities with a line to another of them belongs to.
    private func parts(of members: Set<QualifiedName>) -> [QualifiedName: Int] {
        var parts: [QualifiedName: Int] = [:]
        for (number, entity) in entities.enumerated() where members.contains(entity.name) && parts[entity.name] == nil {
            guard neighbours[entity.name]?.contains(where: members.contains) == true else { continue }
            parts[entity.name] = number
            var waiting = [entity.name]
            while let name = waiting.popLast() {
                for neighbour in neighbours[name] ?? [] where members.contains(neighbour) && parts[neighbour] == nil {
                    parts[neighbour] = number
                    waiting.append(neighbour)
                }
            }
        }
        return parts
    }
}
