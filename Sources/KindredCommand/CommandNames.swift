import ArgumentParser
import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The names of commands in the arguments, looked at before the parser, which would complain of a wrong command's options first.
enum CommandNames {
    /// Throws for a name that no command has, and for options that stand before the command.
    static func check(_ arguments: [String]) throws {
        let names = names(of: RootCommand.self) + ["help"]
        // Completion scripts call with three dashes.
        guard let first = arguments.first, !first.hasPrefix("---") else { return }
        if first.hasPrefix("-") {
            let asksForHelp = arguments.contains { ["-h", "--help", "--version"].contains($0) }
            guard let name = arguments.first(where: names.contains), !asksForHelp else { return }
            // Not its value, which may hold a password.
            let option = first.prefix { $0 != "=" }
            throw CommandFailure(
                .usage,
                "Options come after their command, as in kindred \(name) \(option). See `kindred \(name) --help`.")
        }
        guard names.contains(first) else { throw unknown(first, "command", among: names, of: "kindred") }
        if first == "migrate" { try checkMigrate(arguments.dropFirst().prefix { !$0.hasPrefix("-") }) }
    }

    /// The word behind `migrate` may be a folder: it is a wrong subcommand if it is like one, or if another word follows.
    private static func checkMigrate(_ words: ArraySlice<String>) throws {
        let names = names(of: MigrateCommand.self)
        guard let word = words.first, !names.contains(word), !word.contains("/"),
            !FileManager.default.fileExists(atPath: word),
            words.count > 1 || !NearestNames.suggestions(for: word, among: names).isEmpty
        else { return }
        throw unknown(word, "folder or subcommand", among: names, of: "kindred migrate")
    }

    private static func unknown(
        _ word: String, _ kind: String, among names: [String], of command: String
    ) -> CommandFailure {
        let near = NearestNames.suggestions(for: word, among: names)
        let question = near.isEmpty ? "; there are \(names.joined(separator: ", "))." : NearestNames.question(near)
        return CommandFailure(.usage, "There is no \(kind) \"\(word)\"\(question) See `\(command) --help`.")
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }
}
