import KindredPostgres
import KindredSchema

extension Diagram {
    /// The diagram in Graphviz's language: the same diagram gives the same bytes.
    ///
    /// Each line of the model is one edge with a head at both ends. Where columns or relationships are shown, it leads from
    /// one relationship's name to its inverse's. The lines of ``hubs`` lead to labels beside the entities at their other ends.
    ///
    /// If the diagram is cut, the lines of hubs and between groups are no edges: the entity that holds the foreign key says
    /// in words where they lead, and each group is laid out by itself, so that the sheet is about as wide as it is high.
    ///
    /// - Parameters:
    ///   - emphasis: An entity that stands out, besides the entities in ``around``.
    ///   - link: The address that an entity's picture leads to; none if nil.
    public func dot(emphasis: QualifiedName? = nil, link: ((QualifiedName) -> String?)? = nil) -> String {
        DOTWriter(diagram: self, emphasis: emphasis, link: link).text()
    }
}

/// Writes a diagram for Graphviz.
struct DOTWriter {
    let diagram: Diagram
    let emphasis: Set<QualifiedName>
    let link: ((QualifiedName) -> String?)?
    /// The text beside the name of a relationship: the helper table that its line stands for, and its destination if
    /// that is named instead of drawn.
    let notes: [QualifiedName: [ServerText: String]]
    let labels: Diagram.Labels
    let titles: DiagramTitles
    /// Whether groups have frames.
    let hasFrames: Bool
    /// The lines that are drawn.
    let drawn: [Diagram.Edge]
    /// The words of an entity about its lines that are not drawn.
    let words: LinesInWords
    /// The entities that other entities' lines lead to, so that those entities stand at their left: a line from such an
    /// entity to itself leaves at its right, where there is room for it.
    private let isReferring: Set<QualifiedName>

    /// How many lines of each entity are drawn to another or to itself.
    let degrees: [QualifiedName: Int]
    /// The entities that get a place by a line to another entity.
    let placed: Set<QualifiedName>

    /// Above so many entities lines are straight, which takes much less time to lay out.
    private static let mostWithCurves = 150
    var showsNamesOnly: Bool { diagram.detail == .names }

    init(diagram: Diagram, emphasis: QualifiedName?, link: ((QualifiedName) -> String?)?) {
        self.diagram = diagram
        self.emphasis = Set(diagram.around + (emphasis.map { [$0] } ?? []))
        self.link = link
        let hasFrames = Self.hasFrames(diagram)
        let titles = DiagramTitles(diagram, hasFrames: hasFrames)
        let words = LinesInWords(diagram, titles)
        let drawn = diagram.edges.filter { !words.says($0) }
        // In a cut diagram, the lines of hubs are among the lines said in words.
        let labels = Diagram.Labels(hubs: diagram.isCut ? [] : diagram.hubs, edges: drawn)
        var notes: [QualifiedName: [ServerText: String]] = [:]
        for edge in diagram.edges {
            guard let label = edge.helperLabel else { continue }
            for end in [edge.from, edge.to] { notes[end.entity, default: [:]][end.relationship] = label }
        }
        for (entity, destinations) in labels.destinations.merging(words.destinations, uniquingKeysWith: { $1 }) {
            for (relationship, destination) in destinations {
                let helper = notes[entity]?[relationship].map { $0 + " " } ?? ""
                let title = titles.title(of: destination, besides: entity)
                notes[entity, default: [:]][relationship] = "\(helper)→ \(title)"
            }
        }
        var degrees: [QualifiedName: Int] = [:]
        for edge in drawn where labels.label(of: edge) == nil {
            for end in [edge.from, edge.to] { degrees[end.entity, default: 0] += 1 }
        }
        self.hasFrames = hasFrames
        self.degrees = degrees
        placed = Set(
            drawn.filter { $0.from.entity != $0.to.entity && labels.label(of: $0) == nil }
                .flatMap { [$0.from.entity, $0.to.entity] })
        self.notes = notes
        self.labels = labels
        self.titles = titles
        self.words = words
        self.drawn = drawn
        isReferring = Set(
            drawn.filter { $0.from.entity != $0.to.entity && labels.label(of: $0) == nil }.map(\.to.entity))
    }

    /// Whether frames help.
    ///
    /// Around an entity there are none: its neighbours stand beside it, whatever they belong to. Frames of schemas are no
    /// help either where more lines lead from one to another than within them, and make a tower of the picture.
    private static func hasFrames(_ diagram: Diagram) -> Bool {
        if diagram.isCut { return true }
        if !diagram.around.isEmpty { return false }
        if !diagram.groups.allSatisfy({ $0.kind == .schema }) { return true }
        let hubs = Set(diagram.hubs)
        let lines = diagram.edges.filter { !hubs.contains($0.from.entity) && !hubs.contains($0.to.entity) }
        return lines.count { $0.from.entity.schema != $0.to.entity.schema } * 2 <= lines.count
    }

    func text() -> String {
        var lines = ["digraph kindred {"]
        lines += attributes.map { "  " + $0 }
        let nodes = Dictionary(diagram.nodes.map { ($0.entity, $0) }) { first, _ in first }
        var grouped: Set<QualifiedName> = []
        for (place, group) in frames.enumerated() {
            lines += cluster(group, "\(place + 1)", nodes, &grouped, indentation: "  ")
        }
        for node in diagram.nodes where !grouped.contains(node.entity) { lines += texts(of: node).map { "  " + $0 } }
        let (ports, spans) = (ports, spans)
        lines += drawn.map { "  " + text(of: $0, ports, span: spans[$0.to.entity] ?? 1) }
        lines += viewPlaces.map { "  " + $0 }
        return lines.joined(separator: "\n") + "\n}\n"
    }

    private var attributes: [String] {
        let isLarge = !diagram.isCut && diagram.nodes.count > Self.mostWithCurves
        var graph = ["rankdir=LR", #"fontname="Helvetica""#, "fontsize=11", "bgcolor=white"]
        // Lines between frames need one order of ranks for all, else frames become towers. Graphviz crashes where parts
        // are to be packed, too.
        let isFramed = frames.contains { $0.kind == .annotation || $0.kind == .schema }
        if diagram.isCut {
            // No line leads from one frame to another: each is laid out by itself, and they are packed into a square.
            graph += ["pack=4", #"packmode="graph""#, "label=\(LinesInWords.legend.quotedForDOT)"]
        } else {
            graph.append(isFramed ? "newrank=true" : "pack=16")
        }
        switch diagram.detail {
        case .names: graph += ["nodesep=0.15", "ranksep=0.6"]
        case .keys: graph += ["nodesep=0.2", "ranksep=0.7"]
        case .columns, .automatic: graph += ["nodesep=0.3", "ranksep=0.9"]
        }
        if isLarge { graph += ["splines=polyline", "nslimit=2", "nslimit1=2", "mclimit=0.5"] }
        var node = [#"fontname="Helvetica""#, "fontsize=10", #"color="\#(Palette.border)""#]
        if showsNamesOnly {
            node += ["shape=box", "height=0.25", #"margin="0.08,0.03""#, "style=filled"]
            node.append(#"fillcolor="\#(Palette.row)""#)
        } else {
            node.append("shape=plain")
        }
        let edge = [
            "dir=both", #"color="\#(Palette.line)""#, #"fontname="Helvetica""#, "fontsize=9",
            #"fontcolor="\#(Palette.faint)""#, "arrowsize=0.7",
        ]
        return [("graph", graph), ("node", node), ("edge", edge)].map { kind, attributes in
            "\(kind) [\(attributes.joined(separator: ", "))];"
        }
    }

    // MARK: Lines

    /// The port of each relationship's name.
    private var ports: [QualifiedName: [ServerText: Int]] {
        var ports: [QualifiedName: [ServerText: Int]] = [:]
        if showsNamesOnly { return ports }
        for node in diagram.nodes {
            ports[node.entity] = Dictionary(node.relationships.enumerated().map { (ServerText($1), $0 + 1) }) {
                first, _ in first
            }
        }
        return ports
    }

    private func text(of edge: Diagram.Edge, _ ports: [QualifiedName: [ServerText: Int]], span: Int) -> String {
        let isLoop = edge.from.entity == edge.to.entity
        let label = labels.label(of: edge)
        func place(_ end: Diagram.End) -> String {
            if let label, label.hub == end.entity { return "\"\(label.diagramID)\"" }
            let port = ports[end.entity]?[end.relationship].map { ":r\($0)" } ?? ""
            let side = isLoop && !port.isEmpty ? (isReferring.contains(end.entity) ? ":e" : ":w") : ""
            return #""\#(end.entity.diagramID)"\#(port)\#(side)"#
        }
        var attributes = ["arrowtail=\(head(edge.from))", "arrowhead=\(head(edge.to))"]
        if edge.isByView { attributes.append("style=dashed") }
        if span > 1 { attributes.append("minlen=\(span)") }
        attributes.append("tooltip=\(edge.sentence.quotedForDOT)")
        return "\(place(edge.from)) -> \(place(edge.to)) [\(attributes.joined(separator: ", "))];"
    }

    private func head(_ end: Diagram.End) -> String {
        switch (diagram.notation, end.isMany) {
        case (.arrows, false): "normal"
        case (.arrows, true): "normalnormal"
        case (.crow, false): end.isOptional ? "teeodot" : "teetee"
        case (.crow, true): end.isOptional ? "crowodot" : "crowtee"
        }
    }
}

extension Diagram.Edge {
    /// The helper table that the line stands for, with its other columns, or their number where there are more than two;
    /// nil if it stands for none.
    public var helperLabel: String? {
        guard let helper else { return nil }
        if helperColumns.count > Diagram.mostHelperColumns { return "\(helper.name) + \(helperColumns.count) columns" }
        return ([helper.name] + helperColumns.map { "+ \($0)" }).joined(separator: " ")
    }

    /// Both relationships, such as `person.emailSet, email.person (email_person_id_fkey)`.
    public var sentence: String {
        let cause = helperLabel ?? foreignKey
        return "\(from.entity.name).\(from.relationship), \(to.entity.name).\(to.relationship)"
            + (cause.map { " (\($0))" } ?? "")
    }
}
