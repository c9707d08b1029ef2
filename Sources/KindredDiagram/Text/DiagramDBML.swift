import HarmlessText
import KindredPostgres
import KindredSchema

extension Diagram {
    /// The diagram as tables and references in DBML: the same diagram gives the same bytes.
    ///
    /// DBML describes tables: make the diagram with ``Options/showsHelpers`` for it. A helper table that is folded is a
    /// reference of many to many, which DBML refuses from a table to itself, and for the second helper between two tables.
    public func dbml() -> String {
        var lines: [String] = []
        for node in nodes { lines += Self.table(node) }
        for edge in edges { lines.append(Self.reference(edge)) }
        for group in groups {
            lines.append("TableGroup \(Self.quoted(group.title)) {")
            lines += group.allMembers.map { "  \(Self.name($0))" }
            lines.append("}")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func table(_ node: Node) -> [String] {
        var lines = ["Table \(name(node.entity)) {"]
        let keys = node.columns.filter(\.isKey)
        for column in node.columns {
            var settings = column.isKey && keys.count == 1 ? ["pk"] : []
            if column.isNotNull { settings.append("not null") }
            let suffix = settings.isEmpty ? "" : " [\(settings.joined(separator: ", "))]"
            lines.append("  \(quoted(column.name)) \(quoted(column.type))\(suffix)")
        }
        if keys.count > 1 {
            lines.append("  indexes {")
            lines.append("    (\(keys.map { quoted($0.name) }.joined(separator: ", "))) [pk]")
            lines.append("  }")
        }
        let notes = [node.kind == .table ? nil : node.kind.words, node.comment?.onOneLine].compactMap { $0 }
        if !notes.isEmpty { lines.append("  Note: \(quoted(notes.joined(separator: ": "), "'"))") }
        return lines + ["}"]
    }

    private static func reference(_ edge: Edge) -> String {
        func end(_ end: End) -> String {
            let columns = end.columns.map { quoted($0) }
            let list = columns.count == 1 ? columns[0] : "(\(columns.joined(separator: ", ")))"
            return "\(name(end.entity)).\(list)"
        }
        let sign =
            switch edge.kind {
            case .oneToOne: "-"
            case .oneToMany: "<"
            case .manyToOne: ">"
            case .manyToMany: "<>"
            }
        let rule =
            switch edge.action {
            case .noAction: ""
            case .cascade: " [delete: cascade]"
            case .setNull: " [delete: set null]"
            case .setDefault: " [delete: set default]"
            }
        let title = quoted(
            "\(edge.from.entity.name).\(edge.from.relationship), \(edge.to.entity.name).\(edge.to.relationship)")
        return "Ref \(title): \(end(edge.from)) \(sign) \(end(edge.to))\(rule)"
    }

    private static func name(_ name: QualifiedName) -> String { "\(quoted(name.schema)).\(quoted(name.name))" }

    private static func quoted(_ text: String, _ mark: Unicode.Scalar = "\"") -> String {
        var result = ""
        result.unicodeScalars.append(mark)
        for scalar in text.harmless.unicodeScalars {
            if scalar == mark || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        result.unicodeScalars.append(mark)
        return result
    }
}
