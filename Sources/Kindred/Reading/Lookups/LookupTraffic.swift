import KindredPostgres

/// Counts the look-ups by key of one entity and decides which of them wait, to share a statement.
///
/// A look-up that would stand behind another one on a connection waits for the next answer instead. Where there are far
/// more look-ups than connections, half of these do, or as many as the processors can serve: fewer statements for more
/// look-ups each are less work for both sides. That holds while answers follow each other fast; where they take their time,
/// to use all connections is better.
struct LookupTraffic {
    /// How many look-ups for each connection are many.
    private static let crowd = 2
    /// How soon after an answer the next one comes where answers follow each other fast.
    private static let haste = Duration.microseconds(200)
    /// What longer pauses between answers count as, so that a single one does not tell much.
    private static let longPause = haste.nanoseconds * 2

    /// How long an answer may take, while all connections have something to do, before look-ups no longer wait for it.
    let patience: Duration
    private let processorCount: Int
    /// The statements that are under way.
    private(set) var statementCount = 0
    /// The look-ups that are not answered yet, those that wait included.
    private(set) var lookupCount = 0
    /// When the last answer came, or the last connection got something to do.
    private var movedAt: MonotonicTime?
    /// The mean pause between answers in nanoseconds, in which the last ones count most.
    private var pause = Self.longPause

    /// - Parameter processorCount: how many this process and, if it is on the same machine, the server share.
    init(patience: Duration, processorCount: Int) {
        self.patience = patience
        self.processorCount = processorCount
    }

    /// Whether a look-up should wait for others.
    func shouldWait(connectionCount: Int, now: @autoclosure () -> MonotonicTime) -> Bool {
        guard let movedAt else { return false }
        if statementCount >= connectionCount { return now() < movedAt + patience }
        guard isCrowded(connectionCount), pause < Self.haste.nanoseconds else { return false }
        return now() < movedAt + min(Self.haste, patience)
    }

    /// Notes that a look-up waits.
    mutating func wait() {
        lookupCount += 1
    }

    /// Notes that a look-up goes alone.
    mutating func begin(connectionCount: Int, now: @autoclosure () -> MonotonicTime) {
        lookupCount += 1
        statementCount += 1
        if statementCount == connectionCount { movedAt = now() }
    }

    /// Notes that a statement was answered, and whether those that wait go at once.
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

    /// Whether there are many look-ups, and enough connections have something to do.
    private func isCrowded(_ connectionCount: Int) -> Bool {
        lookupCount >= Self.crowd * connectionCount && statementCount >= sufficientCount(connectionCount)
    }

    /// How many statements are enough for many look-ups: each keeps a processor of the server busy, and one here.
    private func sufficientCount(_ connectionCount: Int) -> Int {
        max(1, min((connectionCount + 1) / 2, processorCount / 2))
    }
}
