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
    /// The file's name, such as `0001_people.sql`.
    public let name: String
    /// Whether it runs as one transaction: yes, unless a line of it is `-- kindred: no transaction`.
    public let isTransaction: Bool
    /// Its text, of which the server makes the checksum; line ends are `\n`, whatever a checkout makes of them.
    let text: Data
    /// The statements, each with the line at which it begins.
    let statements: [SQLScanner.ScriptStatement]

    /// Takes a file over.
    ///
    /// Throws ``MigrationError`` `.invalidFile` for a statement that a migration cannot run.
    init(number: Int64, name: String, text: String) throws {
        self.number = number
        self.name = name
        let text = text.replacing("\r\n", with: "\n")
        self.text = Data(text.utf8)
        isTransaction = !text.split(separator: "\n").contains { line in
            line.split(whereSeparator: \.isWhitespace).joined(separator: " ") == "-- kindred: no transaction"
        }
        guard !text.utf8.contains(0) else {
            throw MigrationError(.invalidFile, "The file holds a NUL character.", file: name)
        }
        statements = SQLScanner.statements(in: text)
        for statement in statements {
            if let unfinished = statement.unfinished {
                throw MigrationError(
                    .invalidFile,
                    "The statement of line \(statement.line) does not end: \(unfinished.name) of line \(unfinished.line) is not "
                        + "closed.", file: name, line: unfinished.line)
            }
            if let line = statement.backslashLine {
                throw MigrationError(
                    .invalidFile,
                    "A backslash outside of quotes begins a command of psql's own, such as \\i, and only SQL runs here.",
                    file: name, line: line)
            }
            if StatementText(statement.text).effect == .transactionControl {
                throw MigrationError(
                    .invalidFile,
                    "Leave BEGIN, COMMIT and their like out: "
                        + (isTransaction
                            ? "a file is one transaction, unless a line of it is -- kindred: no transaction."
                            : "each statement of this file runs by itself."),
                    file: name, line: statement.line)
            }
            if Self.copiesFromClient(statement.text) {
                throw MigrationError(
                    .invalidFile, "COPY FROM STDIN has no client to read from; write INSERT.", file: name,
                    line: statement.line)
            }
        }
    }

    private static func copiesFromClient(_ statement: String) -> Bool {
        guard statement.prefix(4).uppercased() == "COPY" else { return false }
        let words = SQLScanner.withoutTexts(statement).uppercased().split { !$0.isLetter }
        return zip(words, words.dropFirst()).contains { $0 == ("FROM", "STDIN") }
    }

    /// Reads a folder's files, in the order of their numbers.
    ///
    /// A name is a number of up to 18 digits, `_`, anything and `.sql`; numbers may have gaps, so that they can be
    /// dates. Files that do not end with `.sql`, and files that begin with a dot, are left alone.
    static func all(in folder: String) throws -> [MigrationFile] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw MigrationError(.invalidFolder, "The folder \(folder) cannot be read.")
        }
        var files: [MigrationFile] = []
        for name in names.sorted() where name.hasSuffix(".sql") && !name.hasPrefix(".") {
            let digits = name.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty, digits.count <= 18, name.dropFirst(digits.count).first == "_",
                let number = Int64(digits)
            else {
                throw MigrationError(
                    .invalidFolder,
                    "The name does not begin with a number of up to 18 digits and _, as in 0001_people.sql.",
                    file: name)
            }
            // A link may lead nowhere.
            guard let content = FileManager.default.contents(atPath: folder + "/" + name) else {
                throw MigrationError(.invalidFolder, "The file cannot be read.", file: name)
            }
            guard let text = String(validating: content, as: UTF8.self) else {
                throw MigrationError(.invalidFolder, "The file cannot be read as text in UTF-8.", file: name)
            }
            files.append(try MigrationFile(number: number, name: name, text: text))
        }
        files.sort { $0.number < $1.number }
        for (first, second) in zip(files, files.dropFirst()) where first.number == second.number {
            throw MigrationError(.invalidFolder, "\(first.name) has the same number.", file: second.name)
        }
        return files
    }
}
