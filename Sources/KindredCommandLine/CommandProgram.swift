package import ArgumentParser
import KindredPostgres
import KindredSchema
package import KindredTerminal

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

/// A program of commands: how it reads its arguments, runs one command and says how that failed.
package struct CommandProgram {
    /// The version of all of Kindred's programs.
    package static let version = "0.1.0"

    private let root: any ParsableCommand.Type
    private let check: ([String]) throws -> Void

    /// Makes a program.
    ///
    /// - Parameters:
    ///   - root: The command whose subcommands the program has.
    ///   - check: Looks at the arguments before the parser does.
    package init(root: any ParsableCommand.Type, check: @escaping ([String]) throws -> Void = { _ in }) {
        self.root = root
        self.check = check
    }

    /// Runs the program with the process's arguments and ends the process with its status.
    package func main() async -> Never {
        Terminal.reserveDescriptors()
        exit(await run(Array(CommandLine.arguments.dropFirst()), terminal: .standard).rawValue)
    }

    /// Runs one command.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - terminal: Where to write.
    /// - Returns: How the command ended.
    package func run(_ arguments: [String], terminal: Terminal) async -> ExitStatus {
        var failure: CommandFailure?
        do {
            try refuseMisplacedAddress(arguments)
            try check(arguments)
            var command = try root.parseAsRoot(arguments)
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

    private func print(_ failure: CommandFailure, in terminal: Terminal) {
        let lines = failure.message.split(whereSeparator: \.isNewline)
        terminal.printError("\(terminal.styled("kindred:", .bold)) \(lines.joined(separator: " "))")
        for line in failure.details.flatMap({ $0.split(whereSeparator: \.isNewline) }) {
            terminal.printError("  \(line)")
        }
    }

    /// Errors about names and arguments must not repeat an address, which may have a password.
    private func refuseMisplacedAddress(_ arguments: [String]) throws {
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

    private func describe(_ error: any Error, of arguments: [String]) -> CommandFailure {
        if let failure = error as? CommandFailure { return failure }
        if let error = error as? SchemaError, error.code == .unknownEntity {
            return CommandFailure(.badInput, "\(error)")
        }
        // The parser's own: --help and --version are errors to it, too.
        let status = root.exitCode(for: error)
        if status.isSuccess { return CommandFailure(.success, root.fullMessage(for: error)) }
        if status == .validationFailure {
            let message = root.message(for: error)
            let names = root.configuration.subcommands.compactMap { $0.configuration.commandName }
            let command = arguments.first { names.contains($0) }.map { " \($0)" } ?? ""
            return CommandFailure(
                .usage, message + (message.hasSuffix(".") ? "" : ".") + " See `kindred\(command) --help`.")
        }
        return CommandFailure(.failure, "\(error)")
    }
}

/// A command of a program.
package protocol ToolCommand: ParsableCommand {
    func run(in terminal: Terminal) async throws
}
