/// The colours of diagrams, as Graphviz takes them.
enum Palette {
    static let title = "#3d5a80"
    static let viewTitle = "#7d8c9c"
    static let emphasis = "#c8553d"
    static let onTitle = "#d5dee8"
    static let row = "#f0f5fa"
    static let border = "#5b6b7b"
    static let line = "#4a5a6a"
    static let frame = "#b8c4d0"
    static let frameTitle = "#46566a"
    static let faint = "#6b7785"
}
