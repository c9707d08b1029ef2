import KindredPostgres
import KindredSchema

/// The names of entities where something around them says which schema they are of.
struct DiagramTitles {
    private let titles: [QualifiedName: String]
    /// The entities in a frame that has the schema's name.
    private let inFrames: Set<QualifiedName>

    init(_ diagram: Diagram, hasFrames: Bool) {
        titles = Dictionary(diagram.nodes.map { ($0.entity, $0.title) }) { first, _ in first }
        inFrames = Set(diagram.groups.filter { hasFrames && $0.kind == .schema }.flatMap(\.allMembers))
    }

    /// The title in a picture, where the frame of a schema need not be repeated.
    func titleInFrame(of node: Diagram.Node) -> String {
        inFrames.contains(node.entity) ? node.entity.name : node.title
    }

    /// The title beside another entity: without the schema where both have the same.
    func title(of entity: QualifiedName, besides other: QualifiedName) -> String {
        entity.schema == other.schema ? entity.name : titles[entity] ?? entity.description
    }
}
