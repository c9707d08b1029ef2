import ArgumentParser
// Re-exported: the exit status and the terminal for callers of the tool, and parsing for its commands.
@_exported public import KindredCommandLine
import KindredGenerateCommand
@_exported public import KindredTerminal

/// The command-line tool `kindred` as a library, for its executable and for tests in memory.
public enum CommandLineTool {
    /// Runs the tool with the process's arguments and ends the process with its status.
    public static func main() async -> Never { await program.main() }

    /// Runs one command.
    ///
    /// A failure is one line on standard error, and the facts behind it, if there are any, a line each. Output that cannot be written
    /// is a failure, too.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the tool's name.
    ///   - terminal: Where to write; the process's own output by default.
    /// - Returns: How the command ended.
    public static func run(_ arguments: [String], terminal: Terminal = .standard) async -> ExitStatus {
        await program.run(arguments, terminal: terminal)
    }

    private static var program: CommandProgram {
        CommandProgram(root: RootCommand.self, check: CommandNames.check)
    }
}

/// The root command.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kindred",
        abstract: "Shows what Kindred makes of a PostgreSQL database.",
        discussion: """
            Begin with a look at a database, which changes nothing, or with a tour that needs none:

              kindred inspect --database postgres://user@host/name
              kindred demo

            The address may stand in DATABASE_URL instead.
            """,
        version: CommandProgram.version,
        subcommands: [
            InspectCommand.self, GenerateCommand.self, DoctorCommand.self, DiagramCommand.self, ImportCommand.self,
            DiffCommand.self, MigrateCommand.self, InstallCommand.self, EnableCommand.self, DisableCommand.self,
            StatusCommand.self, PruneCommand.self, UninstallCommand.self, DemoCommand.self,
        ])
}
