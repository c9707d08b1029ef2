import Synchronization

/// The calls that a test is told of, such as calls of hooks, a line each.
package final class CallLog: Sendable {
    private let lines = Mutex<[String]>([])

    package init() {}

    /// Adds a line.
    package func add(_ line: String) { lines.withLock { $0.append(line) } }

    /// The lines since the last call.
    package func take() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
