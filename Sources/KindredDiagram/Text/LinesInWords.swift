import KindredPostgres
import KindredSchema

/// The lines that a cut diagram says in words instead of drawing them: lines of hubs, and lines from one group to
/// another.
struct LinesInWords {
    /// The lines that each entity says: the names of the other ends after an arrow that has one head towards one object and two
    /// towards many.
    let lines: [QualifiedName: [String]]
    /// How many lines of each entity only the other end says anything of.
    let countElsewhere: [QualifiedName: Int]
    /// The ends of relationships without a line.
    let destinations: [QualifiedName: [ServerText: QualifiedName]]
    private let hubs: Set<QualifiedName>
    private let groups: [QualifiedName: Int]
    private let isCut: Bool

    /// The legend for readers.
    static let legend =
        "An arrow before a name is a line to an entity elsewhere on the sheet: one head leads to one object, two to many."

    /// The most characters of a line of names.
    private static let width = 30

    init(_ diagram: Diagram, _ titles: DiagramTitles) {
        isCut = diagram.isCut
        hubs = Set(diagram.hubs)
        var groups: [QualifiedName: Int] = [:]
        func number(_ group: Diagram.Group) {
            let place = groups.count
            for name in group.members { groups[name] = place }
            for part in group.groups { number(part) }
        }
        if diagram.isCut { diagram.groups.forEach(number) }
        self.groups = groups
        var said: [QualifiedName: [Said: Int]] = [:]
        var countElsewhere: [QualifiedName: Int] = [:]
        var destinations: [QualifiedName: [ServerText: QualifiedName]] = [:]
        for edge in diagram.edges where Self.says(edge, diagram.isCut, hubs, groups) {
            let isAtHub = hubs.contains(edge.to.entity) && !hubs.contains(edge.from.entity)
            let (here, there) = isAtHub ? (edge.from, edge.to) : (edge.to, edge.from)
            said[here.entity, default: [:]][Said(entity: there.entity, isMany: there.isMany), default: 0] += 1
            countElsewhere[there.entity, default: 0] += 1
            destinations[edge.from.entity, default: [:]][edge.from.relationship] = edge.to.entity
            destinations[edge.to.entity, default: [:]][edge.to.relationship] = edge.from.entity
        }
        lines = Dictionary(uniqueKeysWithValues: said.map { ($0, Self.lines(of: $1, besides: $0, titles)) })
        self.countElsewhere = countElsewhere
        self.destinations = destinations
    }

    private struct Said: Hashable {
        let entity: QualifiedName
        let isMany: Bool
    }

    private static func lines(
        of said: [Said: Int], besides entity: QualifiedName, _ titles: DiagramTitles
    ) -> [String] {
        [false, true].flatMap { isMany in
            let some = said.filter { $0.key.isMany == isMany }.sorted { $0.key.entity < $1.key.entity }
            let names = some.map { said, count in
                titles.title(of: said.entity, besides: entity) + (count > 1 ? " ×\(count)" : "")
            }
            var rows: [String] = []
            for (place, name) in names.enumerated() {
                let part = name + (place + 1 < names.count ? "," : "")
                if let row = rows.last, row.count + part.count < width {
                    rows[rows.count - 1] = "\(row) \(part)"
                } else {
                    rows.append(rows.isEmpty ? "\(isMany ? "↠" : "→") \(part)" : part)
                }
            }
            return rows
        }
    }

    /// Whether a line is said instead of being drawn.
    func says(_ edge: Diagram.Edge) -> Bool { Self.says(edge, isCut, hubs, groups) }

    /// Whether nothing may be drawn from one of two entities to the other.
    func isBetweenGroups(_ first: QualifiedName, _ second: QualifiedName) -> Bool {
        isCut && groups[first] != groups[second]
    }

    private static func says(
        _ edge: Diagram.Edge, _ isCut: Bool, _ hubs: Set<QualifiedName>, _ groups: [QualifiedName: Int]
    ) -> Bool {
        isCut
            && (groups[edge.from.entity] != groups[edge.to.entity]
                || hubs.contains(edge.from.entity) != hubs.contains(edge.to.entity))
    }
}
