import Foundation
import Testing

/// The built executable, which stands beside the tests' own.
enum BuiltTool {
    /// Runs it; returns its status and its standard error.
    ///
    /// - Parameters:
    ///   - arguments: The arguments behind its name.
    ///   - output: Its standard output; nil to run it without one.
    ///   - environment: Variables beside the tests' environment.
    ///   - name: The executable's name.
    static func run(
        _ arguments: [String], output: FileHandle?, environment: [String: String] = [:], of name: String = "kindred"
    ) async throws -> (status: Int32, error: String) {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let tool = try #require(Self.tool(name))
        if let output {
            process.executableURL = tool
            process.arguments = arguments
            process.standardOutput = output
        } else {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", #"exec "$0" "$@" >&-"#, tool.path] + arguments
        }
        let error = FileManager.default.temporaryDirectory.appending(path: "kindred-error-\(UUID())")
        #expect(FileManager.default.createFile(atPath: error.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: error) }
        process.standardError = try FileHandle(forWritingTo: error)
        try await withCheckedThrowingContinuation { (exit: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in exit.resume() }
            do { try process.run() } catch { exit.resume(throwing: error) }
        }
        return (process.terminationStatus, try String(contentsOf: error, encoding: .utf8))
    }

    private static func tool(_ name: String) -> URL? {
        let folders = CommandLine.arguments.map { URL(filePath: $0).deletingLastPathComponent() }
        return folders.map { $0.appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
