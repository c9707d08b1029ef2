import Logging
import Synchronization

/// A logger that keeps its lines.
final class LogLines: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
            lines.lines.withLock {
                $0.append(Line(level: event.level, message: "\(event.message)", metadata: metadata))
            }
        }
    }

    private let lines = Mutex<[Line]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    /// The lines of a level since the last call.
    func take(_ level: Logger.Level) -> [Line] {
        lines.withLock { lines in
            defer { lines.removeAll { $0.level == level } }
            return lines.filter { $0.level == level }
        }
    }
}
