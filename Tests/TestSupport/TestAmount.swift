import Foundation

/// How much random and repeated work the tests do: each run does a little, continuous integration more, `make long` most.
package enum TestAmount {
    /// `KINDRED_LONG_TESTS=1` in the environment: runs of minutes.
    package static let isLong = isOn("KINDRED_LONG_TESTS")

    /// `KINDRED_FULL_TESTS=1` in the environment, as `.ci/run` sets it.
    package static let isFull = isLong || isOn("KINDRED_FULL_TESTS")

    /// The number of a usual run, of continuous integration, or of a long run.
    package static func of<Number: BinaryInteger>(_ few: Number, full: Number, long: Number? = nil) -> Number {
        if isLong, let long { return long }
        return isFull ? full : few
    }

    /// The number that an environment variable gives, if any.
    package static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    private static func isOn(_ variable: String) -> Bool {
        ProcessInfo.processInfo.environment[variable] == "1"
    }
}
