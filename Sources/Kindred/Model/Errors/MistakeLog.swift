import KindredPostgres
import Logging
import Synchronization

/// Mistakes of the program that are found where nothing can be thrown: said in the log, each once.
///
/// In the logger that the program has given, else in one of the library's own, so that they are heard in any case.
final class MistakeLog: Sendable {
    private struct Mistake: Hashable {
        let entity: String
        let key: String
        let place: SourcePlace
    }

    private let logger: Logger
    private let known = Mutex<Set<Mistake>>([])

    /// Keys may come from a program's users, without end.
    private static let maximumCount = 1_000

    init(_ logger: Logger?) {
        self.logger = logger ?? Logger(label: "kindred")
    }

    /// Says that a key of no attribute was read.
    func add(_ error: KindredError, at place: SourcePlace) {
        let mistake = Mistake(entity: error.entity ?? "", key: error.key ?? "", place: place)
        let isNew = known.withLock { $0.count < Self.maximumCount && $0.insert(mistake).inserted }
        guard isNew else { return }
        logger.error("\(error.message)", metadata: ["place": "\(place)", "code": "\(error.code)"])
    }

    /// Says what may be a mistake, and may be the end of a request that failed.
    func warn(_ text: String) {
        logger.warning("\(text)")
    }
}
