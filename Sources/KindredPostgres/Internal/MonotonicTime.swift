#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment in nanoseconds of a clock that never goes back.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    package var nanoseconds: UInt64

    package static let never = MonotonicTime(nanoseconds: .max)

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// The moment a duration later; `never` if that is further away than the clock reaches.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// How much later this moment is than another; zero if it is not.
    package func since(_ other: MonotonicTime) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > other.nanoseconds ? nanoseconds - other.nanoseconds : 0))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Nanoseconds from zero to some 285 years.
    package var nanoseconds: UInt64 {
        guard attoseconds > 0 else { return 0 }
        // A nanosecond is 2^9 times 1,953,125 attoseconds: up to two and a half hours this needs no division of 128 bits,
        // which is done in software. `components` takes ten times as long as that.
        if let parts = UInt64(exactly: attoseconds >> 9) { return parts / 1_953_125 }
        return UInt64(clamping: min(attoseconds / 1_000_000_000, 9_000_000_000 * 1_000_000_000))
    }
}
