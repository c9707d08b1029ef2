import Synchronization

/// Runs an action at a time, unless it is cancelled before.
final class Alarm: PolledSource {
    private let time: MonotonicTime
    private let action: @Sendable () -> Void
    private let isOver = Atomic(false)

    /// nil if the time is `never`.
    init?(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) {
        if time == .never { return nil }
        self.time = time
        self.action = action
    }

    /// Starts the timer; the poller has to run already.
    func set() {
        // Without a running poller there is no connection, and nothing to time out.
        try? Poller.shared.addTimed(self)
        Poller.shared.wake(by: time)
        // It may have been cancelled just before.
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
