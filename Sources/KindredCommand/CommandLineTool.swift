import ArgumentParser
import KindredSchema
// Callers of the tool get its terminal with it.
@_exported public import KindredTerminal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The command-line tool `kindred` as a library, for its executable and for tests in memory.
public enum CommandLineTool {
    /// Runs the tool with the process's arguments and ends the process with its status.
    public static func main() async -> Never {
        Terminal.reserveDescriptors()
        exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

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
        var failure: CommandFailure?
        do {
            try refuseMisplacedAddress(arguments)
            try CommandNames.check(arguments)
            var command = try RootCommand.parseAsRoot(arguments)
            if let command = command as? any ToolCommand {
                try await command.run(in: terminal)
            } else {
                // The parser's own commands throw the help text to print.
                try command.run()
            }
        } catch {
            failure = describe(error, of: arguments)
            if let help = failure, help.status == .success {
                terminal.printLines(help.message + "\n")
                failure = nil
            }
        }
        if let failure { print(failure, in: terminal) }
        if let reason = terminal.outputFailure {
            let lost = CommandFailure(.failure, "The output could not be written: \(reason).")
            print(lost, in: terminal)
            failure = failure ?? lost
        }
        return failure?.status ?? .success
    }

    private static func print(_ failure: CommandFailure, in terminal: Terminal) {
        let lines = failure.message.split(whereSeparator: \.isNewline)
        terminal.printError("\(terminal.styled("kindred:", .bold)) \(lines.joined(separator: " "))")
        for line in failure.details.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
            terminal.printError("  \(line)")
        }
    }

    /// Errors about names and arguments must not repeat an address, which may have a password.
    private static func refuseMisplacedAddress(_ arguments: [String]) throws {
        var before: String?
        for argument in arguments {
            let isAddress = ["postgres://", "postgresql://"].contains { argument.lowercased().contains($0) }
            if isAddress, before != "--database", !argument.hasPrefix("--database="), arguments.first != "diff" {
                throw CommandFailure(
                    .usage, "Pass a database's address with --database, as in --database \"$DATABASE_URL\".")
            }
            before = argument
        }
    }

    private static func describe(_ error: any Error, of arguments: [String]) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        if let error = error as? SchemaError, error.code == .unknownEntity {
            return CommandFailure(.badInput, "\(error)")
        }
        // The parser's own: --help and --version are errors to it, too.
        let status = RootCommand.exitCode(for: error)
        if status.isSuccess { return CommandFailure(.success, RootCommand.fullMessage(for: error)) }
        if status == .validationFailure {
            let message = RootCommand.message(for: error)
            let names = RootCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
            let command = arguments.first { names.contains($0) }.map { " \($0)" } ?? ""
            return CommandFailure(
                .usage, message + (message.hasSuffix(".") ? "" : ".") + " See `kindred\(command) --help`.")
        }
        return CommandFailure(.failure, "\(error)")
    }
}

/// A command of the tool.
protocol ToolCommand: ParsableCommand {
    func run(in terminal: Terminal) async throws
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
        version: "0.1.0",
        subcommands: [
            InspectCommand.self, GenerateCommand.self, DoctorCommand.self, DiagramCommand.self, ImportCommand.self,
            DiffCommand.self, MigrateCommand.self, InstallCommand.self, EnableCommand.self, DisableCommand.self,
            StatusCommand.self, PruneCommand.self, UninstallCommand.self, DemoCommand.self,
        ])
}
