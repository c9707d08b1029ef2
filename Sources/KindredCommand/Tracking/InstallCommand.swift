import ArgumentParser
import Kindred
import KindredLive

/// `kindred install`: the helper schema of change tracking.
struct InstallCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Installs change tracking, or upgrades an older version in place.",
        discussion: """
            One transaction, which may be run again: tracked tables, records and cursors stay. As a superuser it gets event \
            triggers too, so that new partitions are tracked at once. Afterwards `kindred enable` chooses the tables.

            Example: kindred install --reader web --database "$DATABASE_URL"
            """)

    @Option(help: ArgumentHelp("A role that may read changes; may be repeated.", valueName: "role"))
    var reader: [String] = []

    @Option(help: ArgumentHelp("How long changes can be read; 60 by default.", valueName: "minutes"))
    var retention: Int?

    @Option(
        help: ArgumentHelp(
            "How long a consumer may have changes wait for it, at most; 30 by default.", valueName: "days"))
    var longestHold: Int?

    @Flag(help: "Only print the SQL.")
    var dryRun = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let retention, !(1...525_600).contains(retention) {
            throw ValidationError("--retention is a number of minutes from 1 to 525600.")
        }
        if let longestHold, !(1...3_650).contains(longestHold) {
            throw ValidationError("--longest-hold is a number of days from 1 to 3650.")
        }
    }

    func run(in terminal: Terminal) async throws {
        if dryRun {
            terminal.printLines("BEGIN;\n\n\(Tracking.installationScript)\nCOMMIT;\n")
            return
        }
        try await withTracking(connection, ownership, in: terminal) { tracking in
            try await tracking.install(
                readers: reader, retention: retention.map { .seconds($0 * 60) },
                longestHold: longestHold.map { .seconds($0 * 86_400) })
            terminal.print("Change tracking is installed, version \(Tracking.version).")
        }
    }
}

/// `kindred uninstall`.
struct UninstallCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall",
        abstract: "Takes change tracking away, with its triggers and records.",
        discussion: """
            The history of migrations, in the same schema, stays.

            Example: kindred uninstall --dry-run
            """)

    @Flag(help: "Only print the SQL.")
    var dryRun = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        if dryRun {
            terminal.printLines("BEGIN;\n\n\(Tracking.uninstallationScript)\nCOMMIT;\n")
            return
        }
        try await withTracking(connection, ownership, in: terminal) { tracking in
            try await tracking.uninstall()
            terminal.print("Change tracking is not installed any more.")
        }
    }
}

/// `kindred prune`.
struct PruneCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Empties the records of changes, as before a dump.",
        discussion: """
            Readers that go on later are told that they have missed changes.

            Example: kindred prune --database "$DATABASE_URL"
            """)

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        try await withTracking(connection, ownership, in: terminal) { tracking in
            try await tracking.prune()
            terminal.print("The records of changes are gone.")
        }
    }
}

/// The option of every command that uses the schema `kindred`, or the tables of migrations.
struct OwnerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A role that you trust and that has made what is used in the schema kindred, or the records of tenants. By default \
            your role and superusers; a superuser uses only what superusers have made.
            """, valueName: "role"))
    var owner: String?
}

/// Lends change tracking of the database; a refusal ends the command with its status.
func withTracking(
    _ connection: ConnectionOptions, _ ownership: OwnerOptions, in terminal: Terminal,
    _ body: (Tracking) async throws -> Void
) async throws {
    do {
        try await connection.withClient(in: terminal, toPrimary: true) {
            try await body(Tracking($0, owner: ownership.owner))
        }
    } catch let error as KindredError {
        let isInput = [.unknownEntity, .untrackable].contains(error.code)
        throw CommandFailure(isInput ? .badInput : .failure, error.message)
    } catch let error as PostgresError {
        throw CommandFailure(.failure, error.message)
    }
}
