package import KindredCommand
import KindredTesting

/// The end of a run of the command: its status, and all that it wrote.
package typealias CommandOutcome = (status: ExitStatus, output: String, error: String)

/// The command `kindred`, run in memory.
///
/// ```swift
/// private let run = TestCommand("migrate", "lint")
///
/// #expect(await run("Migrations").status == .success)
/// ```
package struct TestCommand: Sendable {
    private let words: [String]

    /// - Parameter words: the arguments before all others, such as a command's name.
    package init(_ words: String...) { self.words = words }

    /// Runs the command with further arguments.
    package func callAsFunction(
        _ arguments: String..., usesStyles: Bool = false, environment: [String: String] = [:]
    ) async -> CommandOutcome {
        await callAsFunction(arguments, usesStyles: usesStyles, environment: environment)
    }

    /// Runs the command with further arguments.
    package func callAsFunction(
        _ arguments: [String], usesStyles: Bool = false, environment: [String: String] = [:]
    ) async -> CommandOutcome {
        let (terminal, capture) = Terminal.captured(environment: environment, usesStyles: usesStyles)
        let status = await CommandLineTool.run(words + arguments, terminal: terminal)
        return (status, capture.output, capture.error)
    }
}

/// The command `kindred`, run in memory on the test's database.
///
/// The address of the database stands in place of an argument `DATABASE`.
package struct DatabaseCommand: Sendable {
    private let words: [String]
    private let hasOption: Bool

    /// - Parameters:
    ///   - words: the arguments before all others, such as a command's name.
    ///   - hasOption: whether the option `--database` with the address stands behind all others.
    package init(_ words: String..., hasOption: Bool = true) {
        self.words = words
        self.hasOption = hasOption
    }

    /// Runs the command with further arguments.
    ///
    /// Throws where the test has no database.
    package func callAsFunction(
        _ arguments: String..., usesStyles: Bool = false, environment: [String: String] = [:]
    ) async throws -> CommandOutcome {
        try await callAsFunction(arguments, usesStyles: usesStyles, environment: environment)
    }

    /// Runs the command with further arguments.
    ///
    /// Throws where the test has no database.
    package func callAsFunction(
        _ arguments: [String], usesStyles: Bool = false, environment: [String: String] = [:]
    ) async throws -> CommandOutcome {
        let uri = try TestDatabase.current.uri
        let all = words + arguments + (hasOption ? ["--database", "DATABASE"] : [])
        return await TestCommand()(
            all.map { $0 == "DATABASE" ? uri : $0 }, usesStyles: usesStyles, environment: environment)
    }
}

extension ExitStatus {
    /// Whether a status has a number.
    package static func == (status: ExitStatus, number: Int32) -> Bool { status.rawValue == number }
}
