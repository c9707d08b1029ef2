import Kindred
import KindredPostgres

/// The announced locks of an entity's rows: made by ``Kindred/DatabaseContext/locks(of:)-(String)``.
///
/// ```swift
/// for try await update in try context.locks(of: "person") {
///     for lock in update.held { print(lock.object, lock.text) }
/// }
/// ```
///
/// The first element has the locks that are held; each further element comes when a lock was announced or released. A
/// process that is gone holds nothing, which is noticed within a second. It never ends by itself, and a lost connection
/// is no error.
public struct AnnouncedLocks: AsyncSequence, Sendable {
    let core: ContextCore
    let entity: EntityRuntime

    /// Begins with the first call of `next()`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core, entity: entity) }

    /// Iterates over the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let core: ContextCore
        private let entity: EntityRuntime
        private let watch: LockWatch
        private var pace = ReaderPace()
        private var held: [AnnouncedLocks.Lock]?

        init(core: ContextCore, entity: EntityRuntime) {
            (self.core, self.entity) = (core, entity)
            watch = LockWatch(core.database)
        }

        /// The next change; one short statement each time that a lock is announced or released, and each second while one
        /// is held.
        ///
        /// Throws `KindredError` `.trackingNotInstalled`; `.accessDenied` where the role may not learn of all rows of the
        /// table; `PostgresError`, as after the database was closed; `CancellationError` in a cancelled task.
        public mutating func next() async throws -> AnnouncedLocks.Update? {
            while true {
                try Task.checkCancellation()
                do {
                    let now = try await LockAnnouncer.held(entity, in: core)
                    let update = AnnouncedLocks.Update(now, since: held)
                    held = now
                    if let update { return update }
                } catch let failure where failure.isPassing && !core.client.isInTransaction {
                    await watch.wait(pace.afterFailure())
                    continue
                }
                pace = ReaderPace()
                // A holder whose process is gone says nothing.
                await watch.wait(held?.isEmpty == false || !watch.isListening ? .seconds(1) : .seconds(30))
            }
        }
    }
}

/// Hears that locks were announced or released; its end ends the listening.
private final class LockWatch: Sendable {
    private let listener: ReaderListener
    private let signal = ReaderSignal()
    private let isWanted: Bool

    init(_ database: Database) {
        isWanted = database.live.listening.isWanted
        listener = ReaderListener(signal, warn: { database.warnOfPolling($0) }) {
            try await database.notifications(on: "kindred_tracking_locks")
        }
    }

    deinit { listener.end() }

    var isListening: Bool { listener.isListening }

    /// Waits until something is heard, or some time.
    func wait(_ duration: Duration) async {
        if isWanted { listener.start() }
        _ = await signal.wait(duration, hearsAll: true)
    }
}
