import HarmlessText
import KindredSchema

extension Diagram {
    /// The diagram as JSON, for programs that lay it out themselves: the same diagram gives the same bytes.
    ///
    /// `{"format": 1, "notation": …, "detail": …, "nodes": […], "edges": […], "groups": […], "hubs": […]}`. Entities are told apart by
    /// `id`, which is schema and name with a dot between them and unusual characters written as in an address. Later
    /// versions may add members, and change none.
    public func json() -> String {
        let lines = [
            JSONText.members([
                ("format", .integer(1)), ("notation", .string(notation.rawValue)), ("detail", .string(detail.rawValue)),
            ]),
            JSONText.members([("nodes", .rows(nodes.map(Self.json), indentation: 2))]),
            JSONText.members([("edges", .rows(edges.map(Self.json), indentation: 2))]),
            JSONText.members([("groups", .rows(groups.map(Self.json), indentation: 2))]),
            JSONText.members([("hubs", .strings(hubs.map(\.diagramID)))]),
        ]
        return "{\(lines.joined(separator: ",\n "))}\n"
    }

    private static func json(_ node: Node) -> JSONText {
        let columns = node.columns.map { column in
            JSONText.object([
                ("name", .string(column.name)), ("type", .string(column.type)), ("key", .bool(column.isKey)),
                ("foreignKey", .bool(column.isForeignKey)), ("notNull", .bool(column.isNotNull)),
            ])
        }
        return .object([
            ("id", .string(node.entity.diagramID)), ("schema", .string(node.entity.schema)),
            ("name", .string(node.entity.name)), ("kind", .string(node.kind.rawValue)),
            ("comment", .optional(node.comment)), ("columns", .rows(columns, indentation: 4)),
            ("hiddenColumns", .integer(node.hiddenColumns)), ("relationships", .strings(node.relationships)),
            ("hiddenRelationships", .integer(node.hiddenRelationships)), ("joins", .list(node.joins.map(json))),
            ("shows", .strings(node.shownTables.map(\.diagramID))),
        ])
    }

    private static func json(_ edge: Edge) -> JSONText {
        func json(_ end: End) -> JSONText {
            .object([
                ("entity", .string(end.entity.diagramID)), ("relationship", .string(end.relationship)),
                ("many", .bool(end.isMany)), ("optional", .bool(end.isOptional)), ("columns", .strings(end.columns)),
            ])
        }
        return .object([
            ("from", json(edge.from)), ("to", json(edge.to)), ("kind", .string(edge.kind.rawValue)),
            ("foreignKey", .optional(edge.foreignKey)), ("helper", .optional(edge.helper?.diagramID)),
            ("helperColumns", .strings(edge.helperColumns)), ("byView", .bool(edge.isByView)),
        ])
    }

    private static func json(_ group: Group) -> JSONText {
        .object([
            ("title", .string(group.title)), ("kind", .string(group.kind.rawValue)),
            ("members", .strings(group.members.map(\.diagramID))), ("groups", .list(group.groups.map(json))),
        ])
    }
}
