/// Decides how long the poller polls for input before it sleeps.
///
/// Sleeping and waking take longer than a look-up by key, in a virtual machine several times as long. Where answers
/// follow each other that fast, polling costs hardly more processor time than sleeping, and the answer arrives sooner;
/// Linux does the same before it halts a processor (`haltpoll`). The poller never polls for several connections: with
/// more traffic there is less to gain, and the thread would hardly ever sleep.
struct BusyPolling {
    /// The number of fast answers of one connection before polling is tried: at first, and at most.
    static let habits = 4...256

    /// The source that had input since the last call of `end`, and how long to poll for it.
    private var heard: (source: ObjectIdentifier, limit: UInt64)?
    private var heardCount = 0
    /// The only source that had input before that.
    private var last: ObjectIdentifier?
    private var lastTime = MonotonicTime(nanoseconds: 0)
    /// The number of that source's answers that have followed each other fast.
    private var count = 0
    private var habit = Self.habits.lowerBound
    private var isTried = false

    /// Notes that a source has input; its limit is in nanoseconds.
    mutating func note(_ source: ObjectIdentifier, limit: UInt64) {
        heard = (source, limit)
        heardCount += 1
    }

    /// Notes whether polling was in vain; then it takes more fast answers until the next try.
    mutating func noteFailure() {
        guard isTried else { return }
        isTried = false
        count = 0
        habit = min(2 * habit, Self.habits.upperBound)
    }

    /// When to stop polling for the next input; now if polling does not pay.
    mutating func end(from now: MonotonicTime) -> MonotonicTime {
        let (wasTried, elapsed) = (isTried, now.nanoseconds - lastTime.nanoseconds)
        defer { (lastTime, self.heard, heardCount) = (now, nil, 0) }
        guard let heard, heardCount == 1 else {
            (last, count, isTried) = (nil, 0, false)
            return now
        }
        // The elapsed time includes sleep, which polling would avoid.
        let isFast = elapsed <= 2 * heard.limit && heard.source == last
        last = heard.source
        count = isFast ? count + 1 : 0
        if isFast, wasTried { habit = Self.habits.lowerBound }
        isTried = count >= habit
        return isTried ? MonotonicTime(nanoseconds: now.nanoseconds + heard.limit) : now
    }
}
