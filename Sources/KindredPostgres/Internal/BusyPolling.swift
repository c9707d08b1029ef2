/// Decides until when the poller looks for input again and again before it sleeps.
///
/// To fall asleep and be woken takes longer than a look-up by key, in a virtual machine several times as long. Where one
/// answer follows the other that fast, looking takes hardly more of a processor than sleeping, and the answer comes
/// sooner; Linux does the same before it halts a processor (`haltpoll`). It is never done for several connections at a
/// time: the more of them talk, the less there is to win, and the thread would hardly ever sleep.
struct BusyPolling {
    /// So many answers of one connection have to follow each other before it is tried, and so many at most.
    static let habits = 4...256

    /// Who had input since `end` was asked for, and how long that one may be waited for without sleep.
    private var heard: (source: ObjectIdentifier, limit: UInt64)?
    private var heardCount = 0
    /// Who alone had input before that.
    private var last: ObjectIdentifier?
    private var lastTime = MonotonicTime(nanoseconds: 0)
    /// How many answers of that one have followed each other fast.
    private var count = 0
    private var habit = Self.habits.lowerBound
    private var isTried = false

    /// Notes that a source has input; its limit is in nanoseconds.
    mutating func note(_ source: ObjectIdentifier, limit: UInt64) {
        heard = (source, limit)
        heardCount += 1
    }

    /// Notes that input was waited for in vain; if it was, it takes more answers until it is tried again.
    mutating func noteFailure() {
        guard isTried else { return }
        isTried = false
        count = 0
        habit = min(2 * habit, Self.habits.upperBound)
    }

    /// Until when to look for the next input without sleep; not at all if that is now.
    mutating func end(from now: MonotonicTime) -> MonotonicTime {
        let (wasTried, elapsed) = (isTried, now.nanoseconds - lastTime.nanoseconds)
        defer { (lastTime, self.heard, heardCount) = (now, nil, 0) }
        guard let heard, heardCount == 1 else {
            (last, count, isTried) = (nil, 0, false)
            return now
        }
        // Sleep is part of that time, which there will not be.
        let isFast = elapsed <= 2 * heard.limit && heard.source == last
        last = heard.source
        count = isFast ? count + 1 : 0
        if isFast, wasTried { habit = Self.habits.lowerBound }
        isTried = count >= habit
        return isTried ? MonotonicTime(nanoseconds: now.nanoseconds + heard.limit) : now
    }
}
