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
    /// Its text, from which the server computes the checksum; line ends are `\n`, whatever a checkout makes of them.
    let text: Data
    /// The statements, each with the line at which it begins.
    let statements: [SQLScanner.ScriptStatement]
    /// The rules of ``MigrationLint`` that its comments leave out.
    let ignoreMarks: [MigrationText.IgnoreMark]
    /// All that keeps it from being run; of no matter once it has run, by Kindred or by another tool.
    let problems: [MigrationError]

    init(number: Int64, name: String, content: Data) {
        let text = MigrationText(content)
        self.number = number
        self.name = name
        self.text = Data(text.bytes)
        isTransaction = text.isTransaction
        ignoreMarks = text.ignoreMarks
        let all = SQLScanner.statements(in: text.script)
        // Prisma writes such pairs, in files that run as one transaction all the same, and must not be changed.
        let isAnotherTools = name.contains("/") || name.lowercased().hasSuffix(".up.sql")
        let statements = isAnotherTools && text.isTransaction ? Self.withoutTransactions(all) : all
        self.statements = statements
        if text.bytes.withBytes({ $0.firstIndex(of: 0, from: 0) }) != nil {
            problems = [MigrationError(.invalidFile, "The file holds a NUL character.", file: name)]
        } else {
            problems = Self.problems(of: statements, file: name, isTransaction: text.isTransaction)
        }
    }

    /// Leaves out pairs of a plain BEGIN and COMMIT.
    private static func withoutTransactions(
        _ statements: [SQLScanner.ScriptStatement]
    ) -> [SQLScanner.ScriptStatement] {
        var (begin, paired): (Int?, Set<Int>) = (nil, [])
        for (index, statement) in statements.enumerated() where statement.text.utf8.count <= 20 {
            let words = statement.text.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if ["BEGIN", "BEGIN TRANSACTION", "START TRANSACTION"].contains(words) {
                if begin != nil { return statements }
                begin = index
            } else if let first = begin, ["COMMIT", "COMMIT TRANSACTION", "END"].contains(words) {
                paired.formUnion([first, index])
                begin = nil
            }
        }
        return statements.indices.filter { !paired.contains($0) }.map { statements[$0] }
    }

    private static func problems(
        of statements: [SQLScanner.ScriptStatement], file name: String, isTransaction: Bool
    ) -> [MigrationError] {
        var problems: [MigrationError] = []
        func note(_ problem: String, line: Int) {
            problems.append(MigrationError(.invalidFile, problem, file: name, line: line))
        }
        for statement in statements {
            if let unfinished = statement.unfinished {
                note(
                    "The statement of line \(statement.line) does not end: \(unfinished.name) of line "
                        + "\(unfinished.line) is not closed.", line: unfinished.line)
            } else if copiesFromClient(statement.text) {
                note("COPY FROM STDIN has no client to read from; write INSERT.", line: statement.line)
                // Its rows stand behind it, and are no statements.
                break
            } else if let line = statement.backslashLine {
                note(
                    "A backslash outside of quotes begins a command of psql's own, such as \\i, and only SQL runs here.",
                    line: line)
            } else if StatementText(statement.text).effect == .transactionControl {
                let reason =
                    isTransaction
                    ? "a file is one transaction, unless a line of it is -- kindred: no transaction."
                    : "each statement of this file runs by itself."
                note("Leave BEGIN, COMMIT and their like out: \(reason)", line: statement.line)
            }
        }
        return problems
    }

    private static func copiesFromClient(_ statement: String) -> Bool {
        guard statement.prefix(4).uppercased() == "COPY" else { return false }
        let words = SQLScanner.withoutTexts(statement).uppercased().split { !$0.isLetter }
        return zip(words, words.dropFirst()).contains { $0 == ("FROM", "STDIN") }
    }
}
