import TestSupport

/// How many random sequences run, from the environment.
///
/// `KINDRED_RANDOM=10000` makes it that many, `KINDRED_RANDOM_SEED=5` begins with another sequence: a sequence that has
/// failed comes again with `KINDRED_RANDOM=1` and its seed.
enum GraphCounts {
    /// As many as take a few seconds; in continuous integration, about a minute.
    static let sequences = TestAmount.number("KINDRED_RANDOM") ?? TestAmount.of(100, full: 1_000)
    static let firstSeed = TestAmount.number("KINDRED_RANDOM_SEED") ?? 1
    /// How many kinds of failures are made short and shown in each database.
    static let shown = TestAmount.number("KINDRED_RANDOM_SHOWN") ?? 3
}
