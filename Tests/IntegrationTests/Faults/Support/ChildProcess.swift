import Foundation
import Subprocess
import Testing

/// A process of a test's own, for effects on a whole process: its files, its name servers, its being stopped.
///
/// It is this program once more, which runs one test that is off otherwise.
enum ChildProcess {
    private static let variable = "KINDRED_CHILD"

    /// The argument of the test that started this process; nil in all other processes.
    static var argument: String? { ProcessInfo.processInfo.environment[variable] }

    /// Runs a test in a process of its own and expects that it passes.
    ///
    /// - Parameters:
    ///   - wrapper: a program and its arguments, to which the process's own are added.
    ///   - argument: what the test is told as `argument`.
    ///   - attempts: how often to try, where Swift's runtime may trap before the test is over.
    static func run(
        _ test: String, inside wrapper: [String] = [], argument: String, attempts: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let words = wrapper + [program, "--testing-library", "swift-testing", "--filter", test]
        var (output, hasPassed) = ("", false)
        for _ in 0..<attempts {
            let result = try await Subprocess.run(
                .name("env"), arguments: Arguments(["\(variable)=\(argument)"] + words), input: .none,
                output: .string(limit: 1 << 20), error: .combinedWithOutput)
            output = result.standardOutput
            hasPassed = result.terminationStatus.isSuccess && output.contains("1 test")
            // A failure of the test itself is not tried again.
            let isTrap = result.terminationStatus == .signaled(SIGILL) || result.terminationStatus == .signaled(SIGTRAP)
            if hasPassed || !isTrap || output.contains("recorded an issue") { break }
        }
        #expect(hasPassed, "\(output.suffix(4_000))", sourceLocation: sourceLocation)
    }
}
