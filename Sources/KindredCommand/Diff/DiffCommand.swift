import ArgumentParser
import HarmlessText
import KindredAssistant
import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `kindred diff`: the SQL that leads from one schema to another.
struct DiffCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Prints the SQL that leads from one schema to another, and changes nothing.",
        usage: "kindred diff FROM TO [--allow-drop] [--rename old=new ...] [--check] [--write folder]",
        discussion: """
            FROM and TO are a database's address, a file with SQL, or the JSON of `kindred inspect`. SQL is normalised on a \
            private server, where the statements are tried out, too, as a role that may do nothing on this machine; what only a \
            superuser may make is compared by the catalogs, not tried out, and named. What can lose data needs --allow-drop. Keys of relationships \
            that lead elsewhere afterwards, or nowhere, are named first.

            Ends with 1 where the statements were tried out and fail, and where some are left out. With --check it also does where \
            there is a difference, be it only named, and where nothing could be tried out.

            Example: kindred diff "$DATABASE_URL" schema.sql --rename public.person.name=surname --output change.sql
            """)

    // An array, so that the parser's errors repeat no argument: an address may hold a password.
    @Argument(help: ArgumentHelp("The schema that is there, and the one that is wanted.", valueName: "from to"))
    var sides: [String] = []

    @Flag(help: "Also drop what TO lacks, and change types even where values may be lost.")
    var allowDrop = false

    @Option(
        name: .customLong("rename"),
        help: ArgumentHelp(
            "public.person=people, or public.person.name=surname; may be repeated.", valueName: "old=new"))
    var renames: [String] = []

    @Flag(help: "End with 1 where there is a difference.")
    var check = false

    @Flag(help: "Print one transaction instead of CONCURRENTLY and NOT VALID.")
    var singleTransaction = false

    @Flag(help: "Do not try the statements out.")
    var noProof = false

    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp(
            "An extension that the private server makes as its superuser, since it does not trust it; may be repeated.",
            valueName: "name"))
    var extensions: [String] = []

    @Option(help: ArgumentHelp("Write the SQL to this file.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Write the SQL as the next numbered files of this folder, for `kindred migrate`: one for each step. Nothing is "
                + "written where trying it out fails, unless --no-proof is given.", valueName: "folder"))
    var write: String?

    @Option(help: ArgumentHelp("With --write: the word behind the number; change by default.", valueName: "name"))
    var name: String?

    func validate() throws {
        if write != nil, output != nil { throw ValidationError("Give either --output or --write.") }
        guard let name else { return }
        if write == nil { throw ValidationError("--name goes with --write.") }
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }) else {
            throw ValidationError("--name takes letters, digits, _ and -.")
        }
    }

    func run(in terminal: Terminal) async throws {
        guard sides.count == 2 else {
            throw CommandFailure(
                .usage, "diff takes FROM and TO, and there are \(sides.count) arguments. See `kindred diff --help`.")
        }
        var options = SchemaDifferences.Options()
        options.allowsDropping = allowDrop
        options.isConcurrent = !singleTransaction
        options.renames = renames
        options.isProven = !noProof
        options.extensions = extensions
        let differences: SchemaDifferences
        let changes: [KeyChange]
        do {
            let (from, to) = (try SchemaSource(argument: sides[0]), try SchemaSource(argument: sides[1]))
            differences = try await SchemaDifferences.between(from, to, options: options)
            changes =
                try await differences.isEmpty ? [] : SchemaDifferences.keyChanges(from, to, extensions: extensions)
        } catch let error as SchemaDifferencesError {
            throw CommandFailure(status(of: error), error.message)
        }
        if !changes.isEmpty {
            terminal.print("-- Keys of relationships with another meaning:")
            for change in changes { terminal.print("--   \(change)") }
        }
        try print(differences, in: terminal)
        if case .failed(let reason) = differences.proof {
            let end = write == nil ? "" : " Nothing was written; --no-proof writes the statements all the same."
            throw CommandFailure(.failure, "The statements do not lead from FROM to TO. \(reason)\(end)")
        }
        if let write {
            let files = try PlannedMigrations(folder: write, name: name ?? "change").write(differences.steps)
            for file in files { terminal.print("-- Wrote \(file).") }
        }
        if check, !differences.isEmpty { throw CommandFailure(.failure, "The schemas differ.") }
        if check, let reason = skippedProof(of: differences) {
            throw CommandFailure(.failure, "No difference was found, but that could not be tried out: \(reason).")
        }
        if !differences.withheld.isEmpty {
            throw CommandFailure(
                .failure, "\(differences.withheld.count) statements that drop or may lose data need --allow-drop.")
        }
    }

    /// Why a proof that was asked for was not made.
    private func skippedProof(of differences: SchemaDifferences) -> String? {
        guard !noProof, !differences.isOfModels, case .skipped(let reason) = differences.proof else { return nil }
        return reason
    }

    private func status(of error: SchemaDifferencesError) -> ExitStatus {
        switch error.code {
        case .unreachable, .noServer: .unavailable
        case .invalidRename: .usage
        case .invalidSource, .scriptFailed: .badInput
        default: .failure
        }
    }

    private func print(_ differences: SchemaDifferences, in terminal: Terminal) throws {
        if differences.isEmpty { terminal.print("-- The schemas are the same.") }
        for (title, lines) in [
            ("Not changed by these statements", differences.unmanaged), ("Worth a look", differences.remarks),
            ("Left out without --allow-drop", differences.withheld),
            ("Tables in which no row was tried", differences.untriedTables),
            ("Compared by the catalogs alone, and not tried out", differences.leftOut),
            ("Stopped on the private server, since they took too long", differences.cut),
        ] where !lines.isEmpty {
            terminal.print("-- \(title):")
            for line in lines { terminal.print("--   \(line)") }
        }
        let sql = differences.sql
        if !sql.isEmpty, differences.proof == .proven {
            let rest = differences.leftOut.isEmpty ? "" : ", but for what is named above"
            terminal.print("-- Tried out: afterwards nothing is left to change\(rest).")
        } else if case .skipped(let reason) = differences.proof, !sql.isEmpty {
            terminal.print("-- Not tried out: \(reason).")
        } else if let reason = skippedProof(of: differences) {
            terminal.print("-- Not tried out: \(reason).")
        }
        if write != nil { return }
        guard let output else {
            let shown = sql.unicodeScalars.contains { $0 != "\n" && $0 != "\t" && $0.isHarmful }
            guard !shown else {
                throw CommandFailure(
                    .failure, "The SQL holds control characters, which a terminal does not get; give --output FILE.")
            }
            return terminal.printLines(sql)
        }
        do {
            try Data(sql.utf8).write(to: URL(filePath: output))
        } catch {
            throw CommandFailure(.failure, "\(output) cannot be written.")
        }
    }
}
