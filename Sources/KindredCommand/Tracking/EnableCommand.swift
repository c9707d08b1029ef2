import ArgumentParser
import Kindred
import KindredLive

/// `kindred enable TABLE…`: the tables whose changes are recorded.
struct EnableCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Records changes of tables, with their partitions and the tables that inherit from them.",
        discussion: """
            One transaction, which locks out writers of the tables for a moment, and gives up after five seconds of waiting.

            Example: kindred enable person email --dry-run
            """)

    @Argument(help: ArgumentHelp("The tables, such as person or public.person.", valueName: "table"))
    var tables: [String]

    @Flag(help: "Only print the SQL that is missing.")
    var dryRun = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        try await withTracking(connection, ownership, in: terminal) { tracking in
            if dryRun { return terminal.printScript(try await tracking.statements(toEnable: tables)) }
            try await tracking.enable(tables)
            terminal.print("Changes of \(tables.joined(separator: ", ")) are recorded.")
        }
    }
}

/// `kindred disable TABLE…`.
struct DisableCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Records changes of tables no more.",
        discussion: "Example: kindred disable person --dry-run")

    @Argument(help: ArgumentHelp("The tables, such as person or public.person.", valueName: "table"))
    var tables: [String]

    @Flag(help: "Only print the SQL.")
    var dryRun = false

    @OptionGroup var ownership: OwnerOptions
    @OptionGroup var connection: ConnectionOptions

    func run(in terminal: Terminal) async throws {
        try await withTracking(connection, ownership, in: terminal) { tracking in
            if dryRun { return terminal.printScript(try await tracking.statements(toDisable: tables)) }
            try await tracking.disable(tables)
            terminal.print("Changes of \(tables.joined(separator: ", ")) are not recorded any more.")
        }
    }
}

extension Terminal {
    /// Prints statements as a script.
    fileprivate func printScript(_ statements: [String]) {
        for statement in statements { printLines(statement + ";\n") }
    }
}
