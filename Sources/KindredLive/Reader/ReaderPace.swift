import Kindred
import KindredPostgres

/// How long the change reader pauses between steps.
struct ReaderPace {
    /// The steps in a row that had changes.
    private var busy = 0
    /// The steps in a row that had none.
    private var quiet = 0
    /// The steps in a row that failed.
    private var failures = 0

    /// The first change after a quiet time is read at once.
    ///
    /// While changes go on, steps begin less and less often, so that each step has many: 25 times a second at last,
    /// which is 50 statements if each step asks for rows once. The time that a step takes is a part of this, so that no
    /// change waits longer because the server is busy.
    mutating func afterChanges(_ step: Duration) -> Duration {
        (quiet, failures) = (0, 0)
        busy += 1
        let interval = Duration.milliseconds(min(40, 1 << min(busy, 6)))
        return busy == 1 ? .zero : max(.zero, interval - step)
    }

    /// A writer that saw the reader awake may commit after the reader has looked again, without a notification.
    mutating func afterNothing(isAsleep: Bool) -> Duration {
        (busy, failures) = (0, 0)
        quiet += 1
        return .milliseconds(min(isAsleep ? 1_000 : 250, 5 << min(quiet - 1, 8)))
    }

    /// The shortest time between steps that notifications lead to without a change.
    static let shortestInVain = Duration.milliseconds(40)

    /// From 50 milliseconds to 2 seconds.
    mutating func afterFailure() -> Duration {
        failures += 1
        return .milliseconds(min(2_000, 50 << min(failures - 1, 6)))
    }

    /// Whether steps have failed for some time.
    var keepsFailing: Bool { failures > 5 }
}
