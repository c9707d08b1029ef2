import ArgumentParser
import KindredAssistant
import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `kindred doctor`: finds present and coming problems of a database.
struct DoctorCommand: ToolCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, sarif
    }

    enum Level: String, ExpressibleByArgument, CaseIterable {
        case note, warning, error
    }

    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Finds what is wrong with a database, and the SQL that repairs it.",
        discussion: """
            Reads the catalog in one read-only transaction; no row of a table is read and nothing is changed. Annotations that do not \
            fit are findings, with the comment that mends them. Example:

              kindred doctor --database postgres://localhost/shop --fail-on warning

            A finding is left out by its key in a file (one a line), by a rule's number alone, or by a comment in the \
            database: COMMENT ON TABLE t IS '@kindred {"ignore": ["K101"]}'.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "text, for people; json or sarif, for programs.")
    var format: Format = .text

    @Flag(help: "Show each note, and look at tables of fewer than 1,000 rows, too, where a rule is about speed.")
    var all = false

    @Option(help: "End with status 1 if a finding is of this level or above: note, warning or error.")
    var failOn: Level?

    @Option(
        help: ArgumentHelp(
            "The file with what is ignored; by default .kindred-doctor, if it is there.", valueName: "file"))
    var ignoreFile: String?

    @Option(
        help: ArgumentHelp(
            "A folder of classes that kindred generate wrote, which have to fit the database.", valueName: "dir"))
    var generated: String?

    @Option(
        help: ArgumentHelp(
            "The column by which rows are a tenant's: unique keys without it are findings.", valueName: "column"))
    var tenantColumn: String?

    @Option(help: ArgumentHelp("Say what a rule is about, such as K101, and end.", valueName: "rule"))
    var explain: String?

    @Flag(
        help: """
            Print the SQL that repairs the findings, and run none of it; it is tried on a copy of the schema on an embedded server, and \
            what does not fit is left out.
            """)
    var fix = false

    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp(
            "With --fix: an extension that the embedded server makes as its superuser, since it does not trust it; may be "
                + "repeated.", valueName: "name"))
    var extensions: [String] = []

    func validate() throws {
        if !extensions.isEmpty, !fix { throw ValidationError("--extension goes with --fix.") }
        if fix, format != .text { throw ValidationError("--fix prints SQL; it goes with no other format.") }
        if let explain, DoctorRule.named(explain) == nil {
            let rules = DoctorRule.all.map(\.id).joined(separator: ", ")
            throw ValidationError("There is no rule \"\(explain)\"; the rules are \(rules).")
        }
    }

    func run(in terminal: Terminal) async throws {
        if let explain, let rule = DoctorRule.named(explain) {
            DoctorPage(terminal: terminal).print(rule)
            return
        }
        var options = DoctorOptions()
        options.includesSmallTables = all
        options.ignored = try ignoreList()
        options.tenantColumn = tenantColumn
        options.generated = try generated.map { folder in
            do {
                return try GeneratedClasses(folder: folder)
            } catch {
                throw CommandFailure(.badInput, "The folder \(folder) cannot be read.")
            }
        }
        let (report, trial) = try await connection.withClient(in: terminal) { client in
            let report = try await Doctor.findings(of: client, options: options)
            return (
                report,
                fix ? try await RepairTrial.run(report, of: client, options: options, extensions: extensions) : nil
            )
        }
        switch format {
        case .json: terminal.printLines(report.json())
        case .sarif: terminal.printLines(report.sarif(version: CommandProgram.version))
        case .text:
            if let trial {
                RepairPage(terminal: terminal).print(trial)
            } else {
                DoctorPage(terminal: terminal, showsNotes: all).print(report)
            }
        }
        if let failOn, let level = DoctorLevel(rawValue: failOn.rawValue), report.reaches(level) {
            let count = report.findings.count { $0.level >= level }
            throw CommandFailure(
                .failure, "\(count) \(count == 1 ? "finding is" : "findings are") of the level \(failOn) or above.")
        }
    }

    private static let usualFile = ".kindred-doctor"

    private func ignoreList() throws -> DoctorIgnoreList {
        let path = ignoreFile ?? Self.usualFile
        if ignoreFile == nil, !FileManager.default.fileExists(atPath: path) { return DoctorIgnoreList() }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure(.badInput, "The file \(path) cannot be read.")
        }
        do {
            return try DoctorIgnoreList(text: String(decoding: data, as: UTF8.self))
        } catch {
            throw CommandFailure(.badInput, "\(path) is no list of what to ignore. \(error).")
        }
    }
}
