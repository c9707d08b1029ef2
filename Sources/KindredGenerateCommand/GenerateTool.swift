import ArgumentParser
import KindredCommandLine

/// The program behind `swift package kindred-generate`: the command `kindred generate` and no other.
public enum GenerateTool {
    /// Runs it with the process's arguments, which begin with `generate`, and ends the process with its status.
    public static func main() async -> Never { await CommandProgram(root: GenerateRoot.self).main() }
}

/// The root command, of the name that messages and help have.
private struct GenerateRoot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kindred", abstract: "Writes Swift classes for the entities of a database.",
        subcommands: [GenerateCommand.self])
}
