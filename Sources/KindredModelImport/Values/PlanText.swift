import KindredPostgres

/// A piece of DDL whose columns are known as such, so that two of them can be compared after columns were renamed.
struct PlanText: Hashable {
    enum Piece: Hashable {
        case text(String)
        case column(String)
    }

    private(set) var pieces: [Piece] = []

    init(_ text: String = "") {
        if !text.isEmpty { pieces = [.text(text)] }
    }

    static func column(_ name: String) -> PlanText {
        var text = PlanText()
        text.pieces = [.column(name)]
        return text
    }

    static func + (left: PlanText, right: PlanText) -> PlanText {
        var sum = left
        for piece in right.pieces {
            if case .text(let more) = piece, case .text(let text)? = sum.pieces.last {
                sum.pieces[sum.pieces.count - 1] = .text(text + more)
            } else {
                sum.pieces.append(piece)
            }
        }
        return sum
    }

    static func + (left: PlanText, right: String) -> PlanText { left + PlanText(right) }
    static func + (left: String, right: PlanText) -> PlanText { PlanText(left) + right }

    /// Columns with commas between them.
    static func list(_ columns: [String]) -> PlanText {
        var text = PlanText()
        for (place, column) in columns.enumerated() { text = text + (place == 0 ? "" : ", ") + .column(column) }
        return text
    }

    var columns: [String] {
        pieces.compactMap { if case .column(let name) = $0 { name } else { nil } }
    }

    /// The text with other names for columns.
    func renaming(_ names: [String: String]) -> PlanText {
        var text = self
        text.pieces = pieces.map { if case .column(let name) = $0 { .column(names[name] ?? name) } else { $0 } }
        return text
    }

    /// The text as SQL.
    func sql() throws -> String {
        try pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .column(let name): try SQLIdentifier.quote(name)
            }
        }.joined()
    }
}
