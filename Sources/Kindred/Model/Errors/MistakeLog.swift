import KindredPostgres
import Logging
import Synchronization

/// Logs programming errors that cannot be thrown, each once.
///
/// Uses the program's logger, or else one of the library's own, so that they are never lost.
final class MistakeLog: Sendable {
    private struct Mistake: Hashable {
        let entity: String
        let key: String
        let place: SourcePlace
    }

    private let logger: Logger
    private let known = RankedMutex<Set<Mistake>>([], .mistakeLog)

    /// Bounds memory: keys may come from the program's users.
    private static let maximumCount = 1_000

    init(_ logger: Logger?) {
        self.logger = logger ?? Logger(label: "kindred")
    }

    /// Logs the reading of an unknown key.
    func add(_ error: KindredError, at place: SourcePlace) {
        let mistake = Mistake(entity: error.entity ?? "", key: error.key ?? "", place: place)
        let isNew = known.withLock { $0.count < Self.maximumCount && $0.insert(mistake).inserted }
        guard isNew else { return }
        logger.error("\(error.message)", metadata: ["place": "\(place)", "code": "\(error.code)"])
    }

    /// Logs a possible mistake, which may also be the end of a failed request.
    func warn(_ text: String) {
        logger.warning("\(text)")
    }

    /// Logs what operators may want to know, at the level `debug`.
    func note(_ text: String, _ facts: [String: String]) {
        logger.debug("\(text)", metadata: facts.mapValues { "\($0)" })
    }
}
