import Dispatch
import KindredPostgres
import Subprocess

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Draws diagrams with Graphviz's program `dot`, where it is installed.
///
/// The program runs as a process of its own, sees nothing of this process's environment but where programs, libraries and
/// fonts are, and is ended when it takes too long or when the task is cancelled.
///
/// ```swift
/// let picture = try await Graphviz().draw(diagram.dot(), as: .svg)
/// ```
public struct Graphviz: Sendable {
    /// The kinds of pictures.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Lines and text, for pages and for printing.
        case svg
        /// Points.
        case png
        /// A page.
        case pdf
    }

    private let searchPath: String
    private let timeLimit: Duration

    /// The largest picture, or pictures of one run, in bytes.
    private static let mostBytes = 256 << 20

    /// Creates a way to draw; nothing is run yet.
    ///
    /// - Parameters:
    ///   - searchPath: The folders in which `dot` is looked for, with `:` between them; by default the folders of `PATH`,
    ///     and the usual folders behind them.
    ///   - timeLimit: How long one run may take.
    public init(searchPath: String? = nil, timeLimit: Duration = .seconds(60)) {
        let usual = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"].joined(separator: ":")
        self.searchPath = searchPath ?? "\(ProcessInfo.processInfo.environment["PATH"] ?? ""):\(usual)"
        self.timeLimit = timeLimit
    }

    /// Draws a diagram.
    ///
    /// - Throws: ``GraphvizError``: `notInstalled`, `timeout`, or `failed` with the program's message;
    ///   `CancellationError` if the task is cancelled.
    public func draw(_ dot: String, as format: Format) async throws -> [UInt8] {
        // A file rather than a pipe: a program that ends before it has read everything would end this process by SIGPIPE.
        let file = FileManager.default.temporaryDirectory.appending(path: "kindred-\(UUID().uuidString).dot").path
        let isWritten = await offCooperativePool {
            FileManager.default.createFile(
                atPath: file, contents: Data(dot.utf8), attributes: [.posixPermissions: 0o600])
        }
        guard isWritten else { throw GraphvizError(.failed, "\(file) cannot be written for Graphviz to read") }
        let result: Result<[UInt8], any Error>
        do {
            result = .success(try await run(["-T\(format.rawValue)", file]))
        } catch {
            result = .failure(error)
        }
        await offCooperativePool { try? FileManager.default.removeItem(atPath: file) }
        return try result.get()
    }

    /// Draws several diagrams by one run of the program, as SVG without the head of an XML document.
    ///
    /// - Throws: As ``draw(_:as:)``.
    public func drawForPages(_ dots: [String]) async throws -> [String] {
        if dots.isEmpty { return [] }
        let output = String(decoding: try await draw(dots.joined(separator: "\n"), as: .svg), as: UTF8.self)
        var pictures: [String] = []
        // Texts are escaped in SVG, so that these marks begin and end pictures and nothing else.
        for part in output.split(separator: "</svg>") {
            guard let start = part.firstRange(of: "<svg ") else { continue }
            // All but the first are called otherwise, and a page is not to change with its place in the run.
            let picture = part[start.lowerBound...].replacing(#"<g id="page0,1_graph0""#, with: #"<g id="graph0""#)
            pictures.append(picture + "</svg>")
        }
        guard pictures.count == dots.count else {
            throw GraphvizError(.failed, "Graphviz drew \(pictures.count) of \(dots.count) diagrams")
        }
        return pictures
    }

    /// Whether the program is there and runs.
    public func isInstalled() async -> Bool {
        (try? await run(["-V"])) != nil
    }

    private func run(_ arguments: [String]) async throws -> [UInt8] {
        let bytes = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask { try await output(arguments) }
            group.addTask {
                try await Task.sleep(for: timeLimit)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        try Task.checkCancellation()
        guard let bytes else {
            throw GraphvizError(.timeout, "Graphviz did not draw the diagram within \(timeLimit): show less of it")
        }
        return bytes
    }

    private func output(_ arguments: [String]) async throws -> [UInt8] {
        do {
            let result = try await Subprocess.run(
                .name("dot"), arguments: Arguments(arguments), environment: environment,
                output: .bytes(limit: Self.mostBytes), error: .string(limit: 1 << 20))
            try Task.checkCancellation()
            guard result.terminationStatus.isSuccess else {
                let said = result.standardError.split(whereSeparator: \.isNewline).first.map(String.init)
                throw GraphvizError(
                    .failed, "Graphviz could not draw the diagram: \(said ?? "\(result.terminationStatus)")")
            }
            return result.standardOutput
        } catch let error as SubprocessError {
            if Task.isCancelled { throw CancellationError() }
            if error.code == .executableNotFound { throw GraphvizError.notInstalled }
            throw GraphvizError(.failed, "Graphviz could not be run: \(error)")
        }
    }

    private var environment: Environment {
        let host = ProcessInfo.processInfo.environment
        var variables: [Environment.Key: String] = ["PATH": searchPath, "LC_ALL": "C"]
        for name in [
            "HOME", "XDG_CACHE_HOME", "FONTCONFIG_PATH", "FONTCONFIG_FILE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
        ] {
            if let value = host[name], let key = Environment.Key(rawValue: name) { variables[key] = value }
        }
        return .custom(variables)
    }
}

/// Runs short blocking work on files on a thread of Dispatch, since Swift's concurrency has few threads.
private func offCooperativePool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: work()) }
    }
}
