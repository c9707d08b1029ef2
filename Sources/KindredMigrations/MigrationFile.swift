import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One numbered file of SQL.
public struct MigrationFile: Sendable, Hashable {
    /// The number that its name begins with; files run in this order.
    public let number: Int64
    /// The file's name, such as `0001_people.sql`, or `20260131120000_people/migration.sql` in a folder of its own.
    public let name: String
    /// Whether it runs as one transaction: yes, unless a line of it is `-- kindred: no transaction`.
    public let isTransaction: Bool
    /// Its text, of which the server makes the checksum; line ends are `\n`, whatever a checkout makes of them.
    let text: Data
    /// The statements, each with the line at which it begins.
    let statements: [SQLScanner.ScriptStatement]

    /// Takes a file over, and adds what keeps it from being run to the problems.
    init(number: Int64, name: String, content: Data, problems: inout [MigrationError]) {
        let text = MigrationText(content)
        self.number = number
        self.name = name
        self.text = Data(text.bytes)
        isTransaction = text.isTransaction
        statements = SQLScanner.statements(in: text.script)
        if text.bytes.withBytes({ $0.firstIndex(of: 0, from: 0) }) != nil {
            problems.append(MigrationError(.invalidFile, "The file holds a NUL character.", file: name))
        } else {
            check(&problems)
        }
    }

    private func check(_ problems: inout [MigrationError]) {
        func note(_ problem: String, line: Int) {
            problems.append(MigrationError(.invalidFile, problem, file: name, line: line))
        }
        for statement in statements {
            if let unfinished = statement.unfinished {
                note(
                    "The statement of line \(statement.line) does not end: \(unfinished.name) of line "
                        + "\(unfinished.line) is not closed.", line: unfinished.line)
            } else if Self.copiesFromClient(statement.text) {
                // Its rows stand behind it, and are no statements.
                return note("COPY FROM STDIN has no client to read from; write INSERT.", line: statement.line)
            } else if let line = statement.backslashLine {
                note(
                    "A backslash outside of quotes begins a command of psql's own, such as \\i, and only SQL runs here.",
                    line: line)
            } else if StatementText(statement.text).effect == .transactionControl {
                note(
                    "Leave BEGIN, COMMIT and their like out: "
                        + (isTransaction
                            ? "a file is one transaction, unless a line of it is -- kindred: no transaction."
                            : "each statement of this file runs by itself."), line: statement.line)
            }
        }
    }

    private static func copiesFromClient(_ statement: String) -> Bool {
        guard statement.prefix(4).uppercased() == "COPY" else { return false }
        let words = SQLScanner.withoutTexts(statement).uppercased().split { !$0.isLetter }
        return zip(words, words.dropFirst()).contains { $0 == ("FROM", "STDIN") }
    }
}
