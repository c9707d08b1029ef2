import CFloor
import Kindred
import KindredLive

/// The time from the return of a COMMIT to the update in the hands of the program, on an idle server; and that of libpq in C,
/// which is notified by the writer and asks again.
struct LiveLatency: Sendable {
    private typealias Found = (value: Int64, time: ContinuousClock.Instant)

    private static let turns = 5
    private static let commitsOfTurn = 100
    /// The pauses before commits, in milliseconds; a reader gathers changes that come without pause for 40.
    private static let pauses = 20...60

    private let database: Database
    private let writer: LiveWriter
    private let place: BenchmarkDatabase

    init(_ database: Database, _ writer: LiveWriter, _ place: BenchmarkDatabase) {
        (self.database, self.writer, self.place) = (database, writer, place)
    }

    func measure() async throws -> [[String]] {
        let (values, found) = AsyncStream<Found>.makeStream()
        let request = try await database.makeContext().fetch("one").where("id == 7").live()
        let follower = Task.detached {
            for try await update in request {
                if let n = try update.objects.first?.value(forKey: "n", as: Int64.self) { found.yield((n, .now)) }
            }
        }
        defer { follower.cancel() }
        var seen = values.makeAsyncIterator()
        _ = await seen.next()
        var (floor, short): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.turns {
            floor += try floorTimes()
            short += try await times(Self.commitsOfTurn, &seen) {
                .microseconds(Int.random(in: 1_000 * Self.pauses.lowerBound...1_000 * Self.pauses.upperBound))
            }
        }
        let long = try await times(10, &seen) { .seconds(2) }
        return [
            ["latency, p50", milliseconds(short.percentile(0.5)), "3 ms"],
            ["latency, p99", milliseconds(short.percentile(0.99)), "25 ms"],
            ["latency after 2 s of silence, p50", milliseconds(long.percentile(0.5)), "5 ms"],
            ["latency of libpq in C, LISTEN and the query again, p50", milliseconds(floor.percentile(0.5)), ""],
            ["latency of libpq in C, LISTEN and the query again, p99", milliseconds(floor.percentile(0.99)), ""],
        ]
    }

    private func times(
        _ count: Int, _ seen: inout AsyncStream<Found>.Iterator, pause: () -> Duration
    ) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<count {
            try await Task.sleep(for: pause())
            let written = try await writer.client.query("UPDATE one SET n = n + 1 WHERE id = 7 RETURNING n")
            let (value, committed) = (try written.first?.decode(0, as: Int64.self) ?? 0, ContinuousClock.now)
            while let (n, time) = await seen.next() {
                guard n >= value else { continue }
                times.append(max(0, (time - committed) / .seconds(1)))
                break
            }
        }
        return times
    }

    /// The writer itself notifies, in the statement that writes, to a table that is not tracked.
    private func floorTimes() throws -> [Double] {
        var times = [Double](repeating: 0, count: Self.commitsOfTurn)
        _ = try place.withTarget { target in
            try seconds(
                floor_notified(
                    target,
                    """
                    WITH changed AS (UPDATE untracked SET n = n + 1 WHERE id = 7 RETURNING n)
                    SELECT pg_notify('floor', ''), n FROM changed
                    """, "floor", "SELECT id, n FROM untracked WHERE id = 7", Double(Self.pauses.upperBound) / 1_000,
                    Int32(Self.commitsOfTurn), &times))
        }
        return times
    }
}
