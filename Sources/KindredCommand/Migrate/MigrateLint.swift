import ArgumentParser
import KindredMigrations
import KindredSchema

/// `kindred migrate lint FOLDER`.
struct MigrateLint: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Finds statements that block, break or fail, in files that have not run.",
        discussion: """
            Reads the files alone and runs none: without --database all of them, with it those that have not run there. A finding is left \
            out by --ignore, or in its file by a line "-- kindred: ignore M101".

            Example: kindred migrate lint Migrations --fail-on warning --database "$DATABASE_URL"
            """)

    @Argument(help: ArgumentHelp("The folder with the files.", valueName: "folder"))
    var folder: String?

    @Option(help: "text, for people, or json, for programs: a stable format that only grows.")
    var format: Format = .text

    @Option(help: "End with status 1 if a finding is of this level or above: note, warning or error.")
    var failOn: Level?

    @Option(help: ArgumentHelp("Only look at files with a higher number.", valueName: "number"))
    var after: Int64?

    @Option(
        name: .customLong("ignore"),
        help: ArgumentHelp(
            "Leave out a rule, as M101, or what it finds in one file, as M101:0007_index.sql; may be repeated.",
            valueName: "rule"))
    var ignored: [String] = []

    @Option(help: ArgumentHelp("Say what a rule is about, such as M101, and end.", valueName: "rule"))
    var explain: String?

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    enum Level: String, ExpressibleByArgument, CaseIterable {
        case note, warning, error
    }

    func validate() throws {
        if folder == nil, explain == nil { throw ValidationError("Missing expected argument '<folder>'") }
        if after != nil, connection.database != nil {
            throw ValidationError("Give either --after or --database, which knows what has run.")
        }
        for rule in ignored.map({ $0.prefix { $0 != ":" } }) + [explain.map { $0[...] }].compactMap(\.self)
        where MigrationRule.named(String(rule)) == nil {
            let known = MigrationRule.all.map(\.id)
            let near = NearestNames.suggestions(for: String(rule), among: known)
            let question =
                near.isEmpty ? "; the rules are \(known.joined(separator: ", "))." : NearestNames.question(near)
            throw ValidationError("There is no rule \"\(rule)\"\(question)")
        }
    }

    func run(in terminal: Terminal) async throws {
        if let explain, let rule = MigrationRule.named(explain) {
            return MigrationLintPage(terminal: terminal).print(rule)
        }
        guard let folder else { return }
        let lint = try await describingMigrationErrors {
            var migrations = try Migrations(folder: folder).read()
            migrations.owner = ownership.owner
            let ignored = Set(ignored.map(Self.key))
            guard connection.database != nil else { return try migrations.lint(after: after, ignoring: ignored) }
            return try await connection.withClient(in: terminal) { [migrations] in
                try await migrations.lint(pendingFor: $0, ignoring: ignored)
            }
        }
        switch format {
        case .json: terminal.printLines(lint.json())
        case .text: MigrationLintPage(terminal: terminal).print(lint)
        }
        if let failOn, let level = MigrationRule.Level(rawValue: failOn.rawValue), lint.reaches(level) {
            let count = lint.findings.count { $0.rule.level >= level }
            throw CommandFailure(
                .failure, "\(count) \(count == 1 ? "finding is" : "findings are") of the level \(failOn) or above.")
        }
    }

    /// The key with the rule's number, where its name may stand.
    private static func key(_ text: String) -> String {
        let rule = text.prefix { $0 != ":" }
        return (MigrationRule.named(String(rule))?.id ?? String(rule)) + text.dropFirst(rule.count)
    }
}
