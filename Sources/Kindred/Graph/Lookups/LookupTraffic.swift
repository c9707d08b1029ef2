import KindredPostgres

// Needed for "20 tasks by key over 4 connections" (goal: 90,000 a second, 0.56 of libpq's pipeline). On a quiet machine that
// is 0.55 to 0.62 with shared statements, 0.37 to 0.45 without, and 0.77 with one statement at a time for two processors, which
// `fastInterval` and `crowdedRatio` decide; `patience` keeps a stuck server from delaying look-ups. See Benchmarks/README.md.

/// Counts the look-ups by key of one entity and decides which wait, to share a statement.
///
/// With all connections busy, a look-up waits for the next answer. With far more look-ups than connections, it waits
/// once half of the connections are busy, or as many as the processors can serve: fewer, larger statements cost both
/// sides less. That holds while answers arrive in quick succession; with slow answers, using all connections is better.
struct LookupTraffic {
    /// Look-ups per connection that count as many.
    private static let crowdedRatio = 2
    /// The interval of answers in quick succession.
    private static let fastInterval = Duration.microseconds(200)
    /// Caps longer intervals, so that a single one has little weight.
    private static let longPause = fastInterval.nanoseconds * 2

    /// The longest time that an answer may take, with all connections busy, before look-ups no longer wait for it.
    let patience: Duration
    private let processorCount: Int
    /// Running statements.
    private(set) var statementCount = 0
    /// Look-ups without an answer, including waiting ones.
    private(set) var lookupCount = 0
    /// The time of the last answer, or when the last connection became busy.
    private var movedAt: MonotonicTime?
    /// The moving average of the intervals between answers, in nanoseconds.
    private var pause = Self.longPause

    /// - Parameter processorCount: the processors that this process and a server on the same machine share.
    init(patience: Duration, processorCount: Int) {
        self.patience = patience
        self.processorCount = processorCount
    }

    /// Whether a look-up should wait for others.
    func shouldWait(connectionCount: Int, now: @autoclosure () -> MonotonicTime) -> Bool {
        guard let movedAt else { return false }
        if statementCount >= connectionCount { return now() < movedAt + patience }
        guard isCrowded(connectionCount), pause < Self.fastInterval.nanoseconds else { return false }
        return now() < movedAt + min(Self.fastInterval, patience)
    }

    /// Counts a look-up that waits.
    mutating func wait() {
        lookupCount += 1
    }

    /// Counts a look-up that is sent alone.
    mutating func begin(connectionCount: Int, now: @autoclosure () -> MonotonicTime) {
        lookupCount += 1
        statementCount += 1
        if statementCount == connectionCount { movedAt = now() }
    }

    /// Counts an answer; `isFollowed` if the waiting look-ups are sent at once.
    mutating func end(
        lookupCount count: Int, isFollowed: Bool, connectionCount: Int, now: @autoclosure () -> MonotonicTime
    ) {
        let isCrowded = isCrowded(connectionCount)
        if isCrowded || statementCount >= connectionCount {
            let now = now()
            if isCrowded, let movedAt {
                pause = (pause * 7 + min(now.since(movedAt).nanoseconds, Self.longPause)) / 8
            }
            movedAt = now
        }
        lookupCount -= count
        if !isFollowed { statementCount -= 1 }
    }

    /// Whether there are many look-ups, and enough busy connections.
    private func isCrowded(_ connectionCount: Int) -> Bool {
        lookupCount >= Self.crowdedRatio * connectionCount && statementCount >= sufficientCount(connectionCount)
    }

    /// The busy connections that suffice for many look-ups: each occupies one processor of the server, and one here.
    private func sufficientCount(_ connectionCount: Int) -> Int {
        max(1, min((connectionCount + 1) / 2, processorCount / 2))
    }
}
