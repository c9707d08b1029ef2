import Synchronization

/// Does something at a moment, unless it is called off before.
final class Alarm: PolledSource {
    private let time: MonotonicTime
    private let action: @Sendable () -> Void
    private let isOver = Atomic(false)

    /// nil if the moment never comes.
    init?(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) {
        if time == .never { return nil }
        self.time = time
        self.action = action
    }

    /// Waits from now on; the poller has to run already.
    func set() {
        // Where it does not run there is no connection, and nothing to wait for.
        try? Poller.shared.addTimed(self)
        Poller.shared.wake(by: time)
        // It may have been called off just before.
        if isOver.load(ordering: .sequentiallyConsistent) { Poller.shared.removeTimed(self) }
    }

    func callOff() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        Poller.shared.removeTimed(self)
    }

    func socketIsReady() {}

    func deadlinePassed(_ now: MonotonicTime) -> MonotonicTime {
        guard now >= time else { return time }
        Poller.shared.removeTimed(self)
        if !isOver.exchange(true, ordering: .sequentiallyConsistent) { action() }
        return .never
    }
}
