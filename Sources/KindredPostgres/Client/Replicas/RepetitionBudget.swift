/// How many reads may be asked again: 5 % of the reads of the last ten seconds, and a single one of fewer than forty.
struct RepetitionBudget: Sendable {
    private static let span: UInt64 = 10
    /// The least number of reads for each read that is asked again.
    private static let readsForEach = 20

    /// The reads of each of the last seconds, by the second's number modulo ten.
    private var reads = [Int](repeating: 0, count: 10)
    private var repetitions = [Int](repeating: 0, count: 10)
    private var readTotal = 0
    private var repetitionTotal = 0
    private var second: UInt64 = 0

    private mutating func advance(to now: MonotonicTime) -> Int {
        let present = now.nanoseconds / 1_000_000_000
        if present > second {
            for passed in 0..<min(present - second, Self.span) {
                let place = Int((present - passed) % Self.span)
                readTotal -= reads[place]
                repetitionTotal -= repetitions[place]
                (reads[place], repetitions[place]) = (0, 0)
            }
            second = present
        }
        return Int(second % Self.span)
    }

    /// Counts a read.
    mutating func noteRead(at now: MonotonicTime) {
        let place = advance(to: now)
        reads[place] += 1
        readTotal += 1
    }

    /// Whether a read may be asked again, which is counted then.
    mutating func take(at now: MonotonicTime) -> Bool {
        let place = advance(to: now)
        guard repetitionTotal == 0 || (repetitionTotal + 1) * Self.readsForEach <= readTotal else { return false }
        repetitions[place] += 1
        repetitionTotal += 1
        return true
    }
}
