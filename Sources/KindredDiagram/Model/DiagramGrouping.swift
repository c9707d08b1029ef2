import KindredPostgres
import KindredSchema

/// Puts entities into groups: by annotation, by schema, and by what relationships connect.
struct DiagramGrouping {
    /// Sorted by name.
    private let entities: [Entity]
    private let degrees: [QualifiedName: Int]
    private let connected: [QualifiedName: Int]

    init(entities: [Entity], edges: [Diagram.Edge]) {
        var neighbours: [QualifiedName: [QualifiedName]] = [:]
        for edge in edges where edge.from.entity != edge.to.entity {
            neighbours[edge.from.entity, default: []].append(edge.to.entity)
            neighbours[edge.to.entity, default: []].append(edge.from.entity)
        }
        self.entities = entities
        degrees = neighbours.mapValues(\.count)
        connected = Self.connected(entities, neighbours)
    }

    /// The groups of a diagram.
    ///
    /// - Parameter byPart: Whether what relationships connect is a group, too.
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
        annotated.sort { $0.title.precedesInBytes($1.title) }
        var groups = annotated.map { group($0.title, .annotation, $0.members, byPart) }
        groups += schemas.map { group($0.title, .schema, $0.members, byPart) }
        if byPart { groups += parts(of: others) }
        return groups
    }

    private static func add(
        _ name: QualifiedName, to title: String, in groups: inout [(title: String, members: [QualifiedName])]
    ) {
        if let place = groups.firstIndex(where: { $0.title.hasSameBytes(as: title) }) {
            groups[place].members.append(name)
        } else {
            groups.append((title, [name]))
        }
    }

    private func group(
        _ title: String, _ kind: Diagram.Group.Kind, _ members: [QualifiedName], _ byPart: Bool
    ) -> Diagram.Group {
        let parts = byPart ? parts(of: members) : []
        // One part that is everything says nothing.
        if parts.count < 2 { return Diagram.Group(title: title, kind: kind, members: members, groups: []) }
        return Diagram.Group(title: title, kind: kind, members: [], groups: parts)
    }

    /// The parts of some entities that relationships connect, the largest first; then those that none connects to
    /// anything.
    ///
    /// A way through entities of another group connects, too: lines lead there all the same.
    private func parts(of members: [QualifiedName]) -> [Diagram.Group] {
        var parts: [Int: [QualifiedName]] = [:]
        var alone: [QualifiedName] = []
        for name in members {
            if let part = connected[name] { parts[part, default: []].append(name) } else { alone.append(name) }
        }
        var groups = parts.values.map { part in
            // The entity with most lines says what the part is about.
            let heart = part.max { (degrees[$0] ?? 0, $1) < (degrees[$1] ?? 0, $0) }
            return Diagram.Group(title: (heart ?? part[0]).name, kind: .part, members: part, groups: [])
        }
        groups.sort {
            $0.members.count != $1.members.count
                ? $0.members.count > $1.members.count : $0.members[0] < $1.members[0]
        }
        if !alone.isEmpty {
            groups.append(Diagram.Group(title: "no relationships", kind: .unconnected, members: alone, groups: []))
        }
        return groups
    }

    /// The number of the connected part that each entity with a line to another one belongs to.
    private static func connected(_ entities: [Entity], _ neighbours: [QualifiedName: [QualifiedName]])
        -> [QualifiedName: Int]
    {
        var parts: [QualifiedName: Int] = [:]
        for (number, entity) in entities.enumerated() where parts[entity.name] == nil && neighbours[entity.name] != nil
        {
            parts[entity.name] = number
            var waiting = [entity.name]
            while let name = waiting.popLast() {
                for neighbour in neighbours[name] ?? [] where parts[neighbour] == nil {
                    parts[neighbour] = number
                    waiting.append(neighbour)
                }
            }
        }
        return parts
    }
}
