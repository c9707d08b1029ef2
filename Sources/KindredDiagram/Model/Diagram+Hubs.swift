import KindredPostgres
import KindredSchema

extension Diagram {
    /// A line of a hub, which is drawn to a label with the hub's name instead of to the hub itself.
    struct Label: Hashable {
        /// The hub.
        let hub: QualifiedName
        /// The entity at the other end, beside which the label stands: all its lines to the hub lead to one label.
        let entity: QualifiedName

        /// A text that no entity's ``diagramID`` is.
        var diagramID: String { "\(hub.diagramID)@\(entity.diagramID)" }
    }

    /// The labels of the hubs' lines.
    ///
    /// Lines from a hub to itself and between two hubs are drawn like all other lines.
    struct Labels {
        private let hubs: Set<QualifiedName>
        /// The labels beside each entity, sorted by hub.
        let besides: [QualifiedName: [Label]]
        /// The ends of a hub's relationships, by the relationship's name.
        let destinations: [QualifiedName: [ServerText: QualifiedName]]

        init(hubs: [QualifiedName], edges: [Edge]) {
            let hubs = Set(hubs)
            self.hubs = hubs
            var besides: [QualifiedName: Set<Label>] = [:]
            var destinations: [QualifiedName: [ServerText: QualifiedName]] = [:]
            for edge in edges {
                guard let label = Self.label(of: edge, hubs) else { continue }
                besides[label.entity, default: []].insert(label)
                let end = edge.from.entity == label.hub ? edge.from : edge.to
                destinations[label.hub, default: [:]][end.relationship] = label.entity
            }
            self.besides = besides.mapValues { $0.sorted { $0.hub < $1.hub } }
            self.destinations = destinations
        }

        /// The label that stands for an end of a line; nil if the line is drawn as it is.
        func label(of edge: Edge) -> Label? { Self.label(of: edge, hubs) }

        private static func label(of edge: Edge, _ hubs: Set<QualifiedName>) -> Label? {
            switch (hubs.contains(edge.from.entity), hubs.contains(edge.to.entity)) {
            case (true, false): Label(hub: edge.from.entity, entity: edge.to.entity)
            case (false, true): Label(hub: edge.to.entity, entity: edge.from.entity)
            case (true, true), (false, false): nil
            }
        }
    }

    /// The entities that more lines end at than a picture can bear, sorted.
    static func hubs(of edges: [Edge], except named: Set<QualifiedName>) -> [QualifiedName] {
        var counts: [QualifiedName: Int] = [:]
        for edge in edges {
            for entity in Set([edge.from.entity, edge.to.entity]) { counts[entity, default: 0] += 1 }
        }
        return counts.filter { $0.value > mostLines && !named.contains($0.key) }.map(\.key).sorted()
    }
}
