import KindredPostgres
import KindredSchema

/// An entity as a table of Graphviz: its name, its columns, and the names of its relationships, where lines begin.
struct NodeLabel {
    let node: Diagram.Node
    /// The title above the columns.
    let title: String
    /// The texts beside relationships, by the relationship's name.
    let notes: [ServerText: String]
    let isEmphasized: Bool

    /// The table, a line for each row, so that differences are easy to read.
    var text: String {
        var rows = [head]
        let columns = node.picturedColumns.prefix(Diagram.mostColumns)
        rows += columns.map(row)
        let hidden = node.hiddenColumns + node.columns.count - columns.count
        if hidden > 0, !columns.isEmpty { rows.append(note("… \(hidden) more")) }
        var rest: [String] = []
        for (place, name) in node.relationships.enumerated() {
            let note = notes[name].map { " " + small($0) } ?? ""
            rest.append(wide(name.escapedForHTML + note, #" PORT="r\#(place + 1)" BGCOLOR="\#(Palette.row)""#))
        }
        if node.hiddenRelationships > 0 {
            let noun = node.hiddenRelationships == 1 ? "relationship" : "relationships"
            rest.append(note("… \(node.hiddenRelationships) more \(noun)"))
        }
        for join in node.joins {
            let (from, to) = (join.from, join.to)
            rest.append(note("\(from.entity.name).\(from.relationship), \(to.entity.name).\(to.relationship)"))
        }
        if !node.shownTables.isEmpty {
            rest.append(note("shows " + node.shownTables.map(\.name).joined(separator: ", ")))
        }
        if !rest.isEmpty, rows.count > 1 { rows.append("<HR/>") }
        let style = node.isView ? #" STYLE="DASHED""# : ""
        return #"<TABLE BORDER="1"\#(style) CELLBORDER="0" CELLSPACING="0" CELLPADDING="2" BGCOLOR="white" "#
            + #"COLOR="\#(Palette.border)">"# + (rows + rest).map { "\n    " + $0 }.joined() + "</TABLE>"
    }

    private var head: String {
        let color = isEmphasized ? Palette.emphasis : node.isView ? Palette.viewTitle : Palette.title
        let kind = node.kind == .table ? "" : " " + small(node.kind.words, Palette.onTitle)
        return wide(
            #"<FONT COLOR="white"><B>\#(title.escapedForHTML)</B></FONT>\#(kind)"#,
            #" CELLPADDING="4" BGCOLOR="\#(color)""#, align: "CENTER")
    }

    private func row(_ column: Diagram.Column) -> String {
        var name = column.name.escapedForHTML
        if column.isForeignKey { name = "<I>\(name)</I>" }
        if column.isKey { name = "<U>\(name)</U>" }
        let type = (column.type + (column.isNotNull ? "" : "?")).escapedForHTML
        return
            #"<TR><TD ALIGN="LEFT">\#(name)</TD><TD ALIGN="LEFT"><FONT COLOR="\#(Palette.faint)">\#(type)</FONT></TD></TR>"#
    }

    private func note(_ text: String) -> String { wide(small(text)) }

    /// A row of one cell.
    private func wide(_ contents: String, _ attributes: String = "", align: String = "LEFT") -> String {
        #"<TR><TD COLSPAN="2" ALIGN="\#(align)"\#(attributes)>\#(contents)</TD></TR>"#
    }

    private func small(_ text: String, _ color: String = Palette.faint) -> String {
        #"<FONT COLOR="\#(color)" POINT-SIZE="8">\#(text.escapedForHTML)</FONT>"#
    }
}
