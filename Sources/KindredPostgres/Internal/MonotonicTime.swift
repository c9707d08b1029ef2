/// A time in nanoseconds of a monotonic clock.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    package var nanoseconds: UInt64

    package static let never = MonotonicTime(nanoseconds: .max)

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicTime { MonotonicTime(nanoseconds: SystemCalls.nanoseconds) }

    /// A later time; `never` on overflow.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// The duration since another time; zero if that is later.
    package func since(_ other: MonotonicTime) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > other.nanoseconds ? nanoseconds - other.nanoseconds : 0))
    }

    /// The milliseconds from another time until this time, rounded up; 0 if it has passed.
    func milliseconds(after now: MonotonicTime, atMost limit: Int) -> Int {
        self > now ? min(Int(clamping: (nanoseconds - now.nanoseconds) / 1_000_000 + 1), limit) : 0
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Nanoseconds, from zero to some 285 years.
    package var nanoseconds: UInt64 {
        guard attoseconds > 0 else { return 0 }
        // A nanosecond is 2^9 times 1,953,125 attoseconds: up to two and a half hours this needs no 128-bit division,
        // which runs in software. `components` takes ten times as long.
        if let parts = UInt64(exactly: attoseconds >> 9) { return parts / 1_953_125 }
        return UInt64(clamping: min(attoseconds / 1_000_000_000, 9_000_000_000 * 1_000_000_000))
    }
}
