import KindredPostgres
import KindredSchema

// Entities, the labels beside them and the frames around them.
extension DOTWriter {
    /// The groups that have a frame.
    ///
    /// If the diagram is cut, no frame is within another, since Graphviz does not pack the contents of a frame.
    var frames: [Diagram.Group] {
        guard hasFrames else { return [] }
        guard diagram.isCut else { return diagram.groups }
        return diagram.groups.flatMap { group in
            if group.groups.isEmpty { return [group] }
            return group.groups.map { part in
                let title = "\(group.title): \(part.title)"
                return Diagram.Group(title: title, kind: part.kind, members: part.members, groups: [])
            }
        }
    }

    func cluster(
        _ group: Diagram.Group,
        _ number: String,
        _ nodes: [QualifiedName: Diagram.Node],
        _ grouped: inout Set<QualifiedName>,
        indentation: String
    ) -> [String] {
        let inner = indentation + "  "
        var lines = ["\(indentation)subgraph cluster_\(number) {"]
        lines.append("\(inner)label=\(group.title.quotedForDOT); labeljust=l; style=rounded;")
        lines.append(#"\#(inner)color="\#(Palette.frame)"; fontcolor="\#(Palette.frameTitle)";"#)
        for name in group.members {
            grouped.insert(name)
            if let node = nodes[name] { lines += texts(of: node).map { inner + $0 } }
        }
        let loose = group.kind == .unconnected ? group.members : group.members.filter(hasNoPlace)
        lines += grid(loose).map { inner + $0 }
        for (place, part) in group.groups.enumerated() {
            lines += cluster(part, "\(number)_\(place + 1)", nodes, &grouped, indentation: inner)
        }
        return lines + ["\(indentation)}"]
    }

    /// The entity, and the labels beside it.
    func texts(of node: Diagram.Node) -> [String] {
        [text(of: node)] + (labels.besides[node.entity] ?? []).map(text)
    }

    private func text(of label: Diagram.Label) -> String {
        var attributes = [
            "label=\(titles.title(of: label.hub, besides: label.entity).quotedForDOT)", "shape=box", "style=rounded",
            "height=0.2", #"margin="0.06,0.02""#, "fontsize=9", #"color="\#(Palette.frame)""#,
            #"fontcolor="\#(Palette.frameTitle)""#, "tooltip=\(label.hub.description.quotedForDOT)",
        ]
        if let link = link?(label.hub) { attributes.append("URL=\(link.quotedForDOT)") }
        return #""\#(label.diagramID)" [\#(attributes.joined(separator: ", "))];"#
    }

    private func text(of node: Diagram.Node) -> String {
        var attributes: [String] = []
        let title = titles.titleInFrame(of: node)
        if showsNamesOnly {
            // Where the relationships are not listed, their number is.
            let count = labels.destinations[node.entity]?.count ?? words.countElsewhere[node.entity]
            let text = title + (count.map { " (\($0) \($0 == 1 ? "line" : "lines"))" } ?? "")
            if let lines = words.lines[node.entity] {
                let color = emphasis.contains(node.entity) ? Palette.onTitle : Palette.faint
                let rows = lines.map { #"<FONT COLOR="\#(color)" POINT-SIZE="8">\#($0.escapedForHTML)</FONT>"# }
                attributes.append("label=<\(([text.escapedForHTML] + rows).joined(separator: "<BR/>"))>")
            } else {
                attributes.append("label=\(text.quotedForDOT)")
            }
            if node.isView { attributes.append(#"style="filled,dashed", fillcolor=white"#) }
            if emphasis.contains(node.entity) {
                attributes.append(#"fillcolor="\#(Palette.emphasis)", fontcolor=white"#)
            }
        } else {
            let label = NodeLabel(
                node: node, title: title, notes: notes[node.entity] ?? [:],
                isEmphasized: emphasis.contains(node.entity))
            attributes.append("label=<\(label.text)>")
        }
        attributes.append("tooltip=\((node.comment?.onOneLine ?? node.entity.description).quotedForDOT)")
        if let link = link?(node.entity) { attributes.append("URL=\(link.quotedForDOT)") }
        return #""\#(node.entity.diagramID)" [\#(attributes.joined(separator: ", "))];"#
    }
}

extension Diagram.Node {
    var isView: Bool { kind == .view || kind == .materializedView }

    var picturedColumns: [Diagram.Column] {
        switch pictured {
        case .all: columns
        case .identifying: columns.filter(\.isKey)
        case .none: []
        }
    }
}
