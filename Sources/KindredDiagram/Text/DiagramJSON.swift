import HarmlessText
import KindredSchema

extension Diagram {
    /// The diagram as JSON, for programs that lay it out themselves: the same diagram gives the same bytes.
    ///
    /// `{"format": 1, "notation": …, "detail": …, "nodes": […], "edges": […], "groups": […], "hubs": […]}`. Entities are told apart by
    /// `id`, which is schema and name with a dot between them and unusual characters written as in an address. Later
    /// versions may add members, and change none.
    public func json() -> String {
        let head = #"{"format": 1, "notation": "\#(notation.rawValue)", "detail": "\#(detail.rawValue)","#
        let parts = [
            Self.lines("nodes", nodes.map(Self.text)), Self.lines("edges", edges.map(Self.text)),
            Self.lines("groups", groups.map(Self.text)),
            "\"hubs\": \(Self.list(hubs.map(\.diagramID)))",
        ]
        return head + "\n " + parts.joined(separator: ",\n ") + "}\n"
    }

    private static func lines(_ name: String, _ elements: [String]) -> String {
        elements.isEmpty ? #""\#(name)": []"# : "\"\(name)\": [\n  \(elements.joined(separator: ",\n  "))]"
    }

    private static func text(_ node: Node) -> String {
        let columns = node.columns.map { column in
            object([
                ("name", column.name.quotedForJSON), ("type", column.type.quotedForJSON), ("key", "\(column.isKey)"),
                ("foreignKey", "\(column.isForeignKey)"), ("notNull", "\(column.isNotNull)"),
            ])
        }
        return object([
            ("id", node.entity.diagramID.quotedForJSON), ("schema", node.entity.schema.quotedForJSON),
            ("name", node.entity.name.quotedForJSON), ("kind", node.kind.rawValue.quotedForJSON),
            ("comment", node.comment?.quotedForJSON ?? "null"),
            ("columns", columns.isEmpty ? "[]" : "[\n    \(columns.joined(separator: ",\n    "))]"),
            ("hiddenColumns", "\(node.hiddenColumns)"), ("relationships", list(node.relationships)),
            ("hiddenRelationships", "\(node.hiddenRelationships)"),
            ("joins", "[" + node.joins.map(text).joined(separator: ", ") + "]"),
            ("shows", list(node.shownTables.map(\.diagramID))),
        ])
    }

    private static func text(_ edge: Edge) -> String {
        func text(_ end: End) -> String {
            object([
                ("entity", end.entity.diagramID.quotedForJSON), ("relationship", end.relationship.quotedForJSON),
                ("many", "\(end.isMany)"), ("optional", "\(end.isOptional)"), ("columns", list(end.columns)),
            ])
        }
        return object([
            ("from", text(edge.from)), ("to", text(edge.to)), ("kind", edge.kind.rawValue.quotedForJSON),
            ("foreignKey", edge.foreignKey?.quotedForJSON ?? "null"),
            ("helper", edge.helper?.diagramID.quotedForJSON ?? "null"), ("helperColumns", list(edge.helperColumns)),
            ("byView", "\(edge.isByView)"),
        ])
    }

    private static func text(_ group: Group) -> String {
        object([
            ("title", group.title.quotedForJSON), ("kind", group.kind.rawValue.quotedForJSON),
            ("members", list(group.members.map(\.diagramID))),
            ("groups", "[" + group.groups.map(text).joined(separator: ", ") + "]"),
        ])
    }

    private static func list(_ texts: [String]) -> String {
        "[" + texts.map(\.quotedForJSON).joined(separator: ", ") + "]"
    }

    private static func object(_ members: [(name: String, text: String)]) -> String {
        "{" + members.map { "\"\($0.name)\": \($0.text)" }.joined(separator: ", ") + "}"
    }
}
