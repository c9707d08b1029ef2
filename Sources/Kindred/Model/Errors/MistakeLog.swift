import KindredPostgres
import Logging
import Synchronization

/// Logs programming errors that cannot be thrown, each once, and warnings that any number of requests may cause, a few
/// a minute.
///
/// Uses the program's logger, or else a logger of the library's own, so that they are never lost.
package final class MistakeLog: Sendable {
    private struct Mistake: Hashable {
        let entity: String
        let key: String
        let place: SourcePlace
    }

    /// The warnings of a minute.
    private struct Minute {
        var end = MonotonicTime.now + .seconds(60)
        var warnings = 0
    }

    private let logger: Logger
    private let known = RankedMutex<Set<Mistake>>([], .mistakeLog)
    private let minute = RankedMutex(Minute(), .mistakeLog)

    /// Bounds memory: keys may come from the program's users.
    private static let maximumCount = 1_000
    /// The warnings that are logged in a minute.
    static let maximumWarnings = 10

    init(_ logger: Logger?) {
        self.logger = logger ?? Logger(label: "kindred")
    }

    /// Logs a mistake, such as the reading of an unknown key.
    func add(_ error: KindredError, at place: SourcePlace) {
        let mistake = Mistake(entity: error.entity ?? "", key: error.key ?? "", place: place)
        let isNew = known.withLock { $0.count < Self.maximumCount && $0.insert(mistake).inserted }
        guard isNew else { return }
        logger.error("\(error.message)", metadata: ["place": "\(place)", "code": "\(error.code)"])
    }

    /// Logs a possible mistake.
    package func warn(_ text: String) {
        logger.warning("\(text)")
    }

    /// Logs a possible mistake that may also be the end of a failed request, and so come any number of times.
    ///
    /// Of a minute the first ten are logged; the tenth says that it is the last.
    func warn(ofRequest text: String) {
        let number = minute.withLock { minute in
            if minute.end <= .now { minute = Minute() }
            minute.warnings += 1
            return minute.warnings
        }
        guard number <= Self.maximumWarnings else { return }
        let isLast = number == Self.maximumWarnings
        logger.warning("\(text)\(isLast ? ". Further warnings of this minute are left out" : "")")
    }

    /// Logs a fact for operators, at the level `debug`.
    package func note(_ text: String, _ facts: [String: String]) {
        logger.debug("\(text)", metadata: facts.mapValues { "\($0)" })
    }
}
