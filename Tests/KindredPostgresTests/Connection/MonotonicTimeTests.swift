import Testing

@testable import KindredPostgres

@Suite struct MonotonicTimeTests {
    private static let limit: Int128 = 9_000_000_000 * 1_000_000_000

    /// Nanoseconds of a duration by the one division that all shorter ways stand for.
    private func expected(_ duration: Duration) -> UInt64 {
        UInt64(min(max(0, duration.attoseconds / 1_000_000_000), Self.limit))
    }

    @Test func durationsAreWholeNanosecondsOfEachSize() {
        for bits in 0..<127 {
            let power = Int128(1) << Int128(bits)
            for attoseconds in [power - 1, power, power + 1, power + power / 3] {
                let duration = Duration(attoseconds: attoseconds)
                #expect(duration.nanoseconds == expected(duration), "\(attoseconds)")
                #expect(Duration(attoseconds: -attoseconds).nanoseconds == 0)
            }
        }
        for nanoseconds in [0, 1, 999, 1_000_000_007, 30_000_000_000, 600_000_000_000, 86_400_000_000_000] as [Int64] {
            #expect(Duration.nanoseconds(nanoseconds).nanoseconds == UInt64(nanoseconds))
        }
    }

    @Test func aTimeBeyondTheClockNeverComes() {
        let now = MonotonicTime(nanoseconds: .max - 10)
        #expect(now + .nanoseconds(10) == .never)
        #expect(now + .nanoseconds(9) == MonotonicTime(nanoseconds: .max - 1))
        #expect(now + .seconds(1) == .never)
        #expect(now + .seconds(-1) == now)
    }
}
