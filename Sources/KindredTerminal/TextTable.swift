import HarmlessText

/// Lines of cells whose columns are as wide as their longest cell.
package struct TextTable {
    private struct Cell {
        let text: String
        let style: Terminal.Style?
    }

    private var rows: [[Cell]] = []
    private var widths: [Int] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds a line; a style of nil leaves a cell as it is.
    package mutating func add(_ cells: [(text: String, style: Terminal.Style?)]) {
        let cells = cells.map { Cell(text: $0.text.harmless, style: $0.style) }
        rows.append(cells)
        for (index, cell) in cells.enumerated() {
            if index < widths.count {
                widths[index] = max(widths[index], cell.text.count)
            } else {
                widths.append(cell.text.count)
            }
        }
    }

    /// The indented lines, without trailing spaces.
    package func lines(indentation: Int, in terminal: Terminal) -> [TerminalText] {
        rows.map { row in
            var line = TerminalText(String(repeating: " ", count: indentation))
            var pending = 0
            for (cell, width) in zip(row, widths) where width > 0 {
                if !cell.text.isEmpty {
                    let blanks = String(repeating: " ", count: pending)
                    line =
                        "\(line)\(blanks)\(cell.style.map { terminal.styled(cell.text, $0) } ?? TerminalText(cell.text))"
                    pending = 0
                }
                pending += width - cell.text.count + 2
            }
            return line
        }
    }
}
