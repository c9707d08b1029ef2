import Foundation

/// How many random sequences run, from the environment.
///
/// `KINDRED_RANDOM=10000` makes it that many, `KINDRED_RANDOM_SEED=5` begins with another one: a sequence that has failed
/// comes again with `KINDRED_RANDOM=1` and its seed.
enum GraphCounts {
    /// As many as take about a minute.
    static let sequences = number("KINDRED_RANDOM") ?? 1_000
    static let firstSeed = number("KINDRED_RANDOM_SEED") ?? 1
    /// How many kinds of failures are made short and shown in each database.
    static let shown = number("KINDRED_RANDOM_SHOWN") ?? 3

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }
}
