import Kindred
import KindredTerminal

/// Prints a step of the tour: the Swift code, the SQL that it sent, and the result.
struct Narrator {
    let terminal: Terminal

    func chapter(_ title: String, _ text: String) {
        terminal.print()
        terminal.print(terminal.styled(title, .bold))
        terminal.print(TerminalText(text))
    }

    /// Runs a step and prints its statements beside its code.
    func step<T>(_ code: String, _ body: () async throws -> T) async throws -> T {
        let (value, recorder) = try await recordingStatements(body)
        terminal.print()
        for line in code.split(separator: "\n") { terminal.print("  " + terminal.styled(String(line), .green)) }
        for event in recorder.all {
            let rows = event.rows.map { $0 == 1 ? "1 row" : "\($0) rows" } ?? "failed"
            let note: TerminalText = event.kind == .transactionControl ? "" : terminal.styled("  -- \(rows)", .faint)
            terminal.print("      " + terminal.styled(Self.shortened(event.sql), .cyan) + note)
        }
        if recorder.all.isEmpty { terminal.print("      " + terminal.styled("-- nothing was sent", .faint)) }
        return value
    }

    func result(_ text: String) {
        terminal.print("    → \(text)")
    }

    /// A statement with its list of columns shortened.
    static func shortened(_ sql: String) -> String {
        var text = sql
        for (opening, closing) in [("SELECT ", " FROM "), ("RETURNING ", "")] {
            guard let start = text.range(of: opening) else { continue }
            let rest = text[start.upperBound...]
            let end = closing.isEmpty ? text.endIndex : rest.range(of: closing)?.lowerBound ?? text.endIndex
            let columns = text[start.upperBound..<end]
            if columns.filter({ $0 == "," }).count > 1, !columns.contains("(") {
                text.replaceSubrange(start.upperBound..<end, with: "…")
            }
        }
        return text
    }
}

extension StringProtocol {
    /// The first occurrence of a text.
    fileprivate func range(of text: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(text) }.map { $0..<self.index($0, offsetBy: text.count) }
    }
}
