import HarmlessText
import KindredPostgres
import KindredSchema

extension Diagram {
    /// The diagram in Mermaid's language: the same diagram gives the same bytes.
    ///
    /// Mermaid has no double arrow heads. The `arrows` notation is a class diagram, which has one line with a head at both
    /// ends and says how many objects there are in digits, and can show groups; `crow` is an entity relationship diagram.
    /// The lines of ``hubs`` lead to boxes with an arrow and the hub's name instead.
    public func mermaid() -> String {
        MermaidWriter(diagram: self).text()
    }
}

/// Writes a diagram for Mermaid.
struct MermaidWriter {
    let diagram: Diagram
    private let ids: [QualifiedName: String]
    private let labels: Diagram.Labels
    private let labelIDs: [Diagram.Label: String]
    private let titles: [QualifiedName: String]

    init(diagram: Diagram) {
        self.diagram = diagram
        var taken: Set<ServerText> = []
        ids = Dictionary(
            diagram.nodes.map { node in
                (node.entity, Self.unique("\(node.entity.schema)_\(node.entity.name)", in: &taken))
            }
        ) { first, _ in first }
        let labels = Diagram.Labels(hubs: diagram.hubs, edges: diagram.edges)
        var labelIDs: [Diagram.Label: String] = [:]
        for label in diagram.nodes.flatMap({ labels.besides[$0.entity] ?? [] }) {
            let name = "to_\(label.hub.schema)_\(label.hub.name)_of_\(label.entity.schema)_\(label.entity.name)"
            labelIDs[label] = Self.unique(name, in: &taken)
        }
        self.labels = labels
        self.labelIDs = labelIDs
        titles = Dictionary(diagram.nodes.map { ($0.entity, $0.title) }) { first, _ in first }
    }

    func text() -> String {
        let lines = diagram.notation == .crow ? entityRelationshipLines : classLines
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Class diagram

    private var classLines: [String] {
        var lines = ["classDiagram", "  direction LR"]
        let nodes = Dictionary(diagram.nodes.map { ($0.entity, $0) }) { first, _ in first }
        var grouped: Set<QualifiedName> = []
        var taken = Set(texts: ids.values).union(Set(texts: labelIDs.values))
        for group in diagram.groups {
            let members = group.allMembers
            grouped.formUnion(members)
            lines.append("  namespace \(Self.unique("group_\(group.title)", in: &taken)) {")
            for node in members.compactMap({ nodes[$0] }) { lines += classLines(of: node, "    ") }
            lines.append("  }")
        }
        for node in diagram.nodes where !grouped.contains(node.entity) { lines += classLines(of: node, "  ") }
        for edge in diagram.edges {
            let line = edge.isByView ? "<..>" : "<-->"
            lines.append(
                "  \(id(edge.from, edge)) \"\(count(edge.from))\" \(line) \"\(count(edge.to))\" \(id(edge.to, edge)) : \(label(edge))"
            )
        }
        return lines
    }

    private func classLines(of node: Diagram.Node, _ indentation: String) -> [String] {
        let head = "\(indentation)class \(ids[node.entity] ?? "")[\"\(Self.escaped(node.title))\"]"
        let columns = shownColumns(of: node).map { column in
            let marks = (column.isKey ? " PK" : "") + (column.isForeignKey ? " FK" : "")
            let type = Self.escaped(column.type) + (column.isNotNull ? "" : "?")
            return "\(indentation)  \(type) \(Self.escaped(column.name))\(marks)"
        }
        let lines = columns.isEmpty ? [head] : [head + " {"] + columns + ["\(indentation)}"]
        return lines + labelTexts(beside: node).map { "\(indentation)class \($0)" }
    }

    private func count(_ end: Diagram.End) -> String {
        end.isMany ? (end.isOptional ? "*" : "1..*") : (end.isOptional ? "0..1" : "1")
    }

    // MARK: Entity relationship diagram

    private var entityRelationshipLines: [String] {
        var lines = ["erDiagram", "  direction LR"]
        for node in diagram.nodes {
            let head = "  \(ids[node.entity] ?? "")[\"\(Self.escaped(node.title))\"]"
            let columns = shownColumns(of: node).map { column in
                var words = [Self.word(column.type), Self.word(column.name)]
                let keys = (column.isKey ? ["PK"] : []) + (column.isForeignKey ? ["FK"] : [])
                if !keys.isEmpty { words.append(keys.joined(separator: ", ")) }
                let name = Self.word(column.name) == column.name ? [] : [Self.escaped(column.name)]
                let notes = name + (column.isNotNull || column.isKey ? [] : ["may be NULL"])
                if !notes.isEmpty { words.append("\"\(notes.joined(separator: ", "))\"") }
                return "    " + words.joined(separator: " ")
            }
            lines += columns.isEmpty ? [head] : [head + " {"] + columns + ["  }"]
            lines += labelTexts(beside: node).map { "  \($0)" }
        }
        for edge in diagram.edges {
            let left = edge.from.isMany ? (edge.from.isOptional ? "}o" : "}|") : (edge.from.isOptional ? "|o" : "||")
            let right = edge.to.isMany ? (edge.to.isOptional ? "o{" : "|{") : (edge.to.isOptional ? "o|" : "||")
            let line = left + (edge.isByView ? ".." : "--") + right
            lines.append("  \(id(edge.from, edge)) \(line) \(id(edge.to, edge)) : \"\(label(edge))\"")
        }
        return lines
    }

    // MARK: Texts

    private func shownColumns(of node: Diagram.Node) -> ArraySlice<Diagram.Column> {
        diagram.detail == .names ? [] : node.picturedColumns.prefix(Diagram.mostColumns)
    }

    private func labelTexts(beside node: Diagram.Node) -> [String] {
        (labels.besides[node.entity] ?? []).map { label in
            "\(labelIDs[label] ?? "")[\"\(Self.escaped("→ \(titles[label.hub] ?? label.hub.description)"))\"]"
        }
    }

    private func id(_ end: Diagram.End, _ edge: Diagram.Edge) -> String {
        if let label = labels.label(of: edge), label.hub == end.entity { return labelIDs[label] ?? "" }
        return ids[end.entity] ?? ""
    }

    private func label(_ edge: Diagram.Edge) -> String {
        let cause = edge.helperLabel.map { " (\(Self.escaped($0)))" } ?? ""
        return "\(Self.escaped(edge.from.relationship)) / \(Self.escaped(edge.to.relationship))\(cause)"
    }

    /// The text with everything that means something to Mermaid as the number of its character.
    ///
    /// `direction LR` means something anywhere in a line.
    private static func escaped(_ text: String) -> String {
        text.harmless.unicodeScalars.reduce(into: "") { result, scalar in
            let isPlain =
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "_.,+…".unicodeScalars.contains(scalar)
                || scalar == " " && !result.suffix(9).lowercased().hasSuffix("direction")
            if isPlain { result.unicodeScalars.append(scalar) } else { result += "#\(scalar.value);" }
        }
    }

    /// The text as one word of letters, digits, brackets and `_`.
    private static func word(_ text: String) -> String {
        let word = text.unicodeScalars.reduce(into: "") { result, scalar in
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789[]()".unicodeScalars.contains(scalar))
            result.unicodeScalars.append(isPlain ? scalar : "_")
        }
        guard let first = word.unicodeScalars.first, first.properties.isAlphabetic else { return "c_" + word }
        return word
    }

    /// A word of letters, digits and `_` that nothing else in the diagram has.
    private static func unique(_ text: String, in taken: inout Set<ServerText>) -> String {
        let word = text.unicodeScalars.reduce(into: "") { result, scalar in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            result.unicodeScalars.append(isPlain ? scalar : "_")
        }
        let start = word.unicodeScalars.first?.properties.isAlphabetic == true ? word : "s_" + word
        var name = start
        var number = 2
        while !taken.insert(name) {
            name = "\(start)_\(number)"
            number += 1
        }
        return name
    }
}

extension Diagram.Group {
    /// The entities of the group and of the groups within it.
    var allMembers: [QualifiedName] { members + groups.flatMap(\.allMembers) }
}
