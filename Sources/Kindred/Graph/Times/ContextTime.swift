import KindredPostgres
import Synchronization

/// A time of a context: it advances with each change of rows or relationships in memory.
package struct ContextTime: RawRepresentable, AtomicRepresentable, Comparable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Before every other time.
    package static let never = ContextTime(rawValue: 0)
    /// After every other time.
    package static let forever = ContextTime(rawValue: .max)

    package static func < (left: ContextTime, right: ContextTime) -> Bool { left.rawValue < right.rawValue }
}

/// Counts a context's changes: an answer read before a change does not overwrite the change.
struct ContextClock: ~Copyable, Sendable {
    private let time = Atomic<UInt64>(1)

    /// The time of a query.
    var now: ContextTime { ContextTime(rawValue: time.load(ordering: .acquiring)) }

    /// The time of a query whose answer may take long, earlier than the time of every later query.
    func beginReading() -> ContextTime {
        ContextTime(rawValue: time.add(1, ordering: .acquiringAndReleasing).oldValue)
    }

    /// The time of a change, later than the time of every earlier query.
    func tick() -> ContextTime { ContextTime(rawValue: time.add(1, ordering: .acquiringAndReleasing).newValue) }
}
