import KindredPostgres
import KindredSchema

// Where entities stand that lines do not place well.
extension DOTWriter {
    /// The most entities without other lines that stand in one column beside the entity they are related to; fewer
    /// where the diagram is about that entity.
    private var mostInColumn: Int { diagram.around.isEmpty ? 16 : 8 }

    /// Invisible edges, so that entities without lines stand in rows and columns instead of in one endless column.
    func grid(_ members: [QualifiedName]) -> [String] {
        guard members.count > 3 else { return [] }
        // A box with columns is higher than one with a name alone.
        let height = Int(Double(members.count).squareRoot() * (showsNamesOnly ? 1.8 : 1.2)) + 1
        return zip(members, members.dropFirst(height)).map(hidden)
    }

    /// Invisible edges that keep views without relationships beside a table that they show.
    var viewPlaces: [String] {
        let shown = Set(diagram.nodes.map(\.entity))
        return diagram.nodes.filter { $0.isView && $0.relationships.isEmpty }.compactMap { node in
            node.shownTables.first { shown.contains($0) && !words.isBetweenGroups($0, node.entity) }
                .map { hidden($0, node.entity) }
        }
    }

    func hidden(_ from: QualifiedName, _ to: QualifiedName) -> String {
        #""\#(from.diagramID)" -> "\#(to.diagramID)" [style=invis];"#
    }

    /// Whether all lines of an entity lead to labels or are said in words, so that nothing says where it stands.
    func hasNoPlace(_ entity: QualifiedName) -> Bool {
        !placed.contains(entity)
    }

    /// How many ranks each line to an entity without other lines spans, so that many of them around one do not stand in
    /// one endless column.
    var spans: [QualifiedName: Int] {
        var leaves: [QualifiedName: [QualifiedName]] = [:]
        for edge in drawn where degrees[edge.to.entity] == 1 && labels.label(of: edge) == nil {
            leaves[edge.from.entity, default: []].append(edge.to.entity)
        }
        // The leaves of several entities may stand in one column, too, unless each entity has a frame.
        let all = leaves.values.map(\.count).reduce(0, +)
        var spans: [QualifiedName: Int] = [:]
        for leaves in leaves.values where leaves.count > 3 {
            let count = diagram.isCut ? leaves.count : all
            if count <= mostInColumn { continue }
            let width = Int((Double(count) / 2).squareRoot()) + 1
            for (place, leaf) in leaves.sorted().enumerated() { spans[leaf] = 1 + place % width }
        }
        return spans
    }
}
