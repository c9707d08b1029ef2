#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A moment in nanoseconds of a clock that never goes back.
struct MonotonicTime: Comparable, Hashable, Sendable {
    var nanoseconds: UInt64

    static let never = MonotonicTime(nanoseconds: .max)

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    /// The moment a duration later; `never` if that is further away than the clock reaches.
    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .never : MonotonicTime(nanoseconds: sum)
    }

    /// How much later this moment is than another; zero if it is not.
    func since(_ other: MonotonicTime) -> Duration {
        .nanoseconds(Int64(clamping: nanoseconds > other.nanoseconds ? nanoseconds - other.nanoseconds : 0))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Nanoseconds from zero to some 285 years.
    var nanoseconds: UInt64 {
        // `components` takes ten times as long.
        UInt64(clamping: min(attoseconds / 1_000_000_000, 9_000_000_000 * 1_000_000_000))
    }
}
