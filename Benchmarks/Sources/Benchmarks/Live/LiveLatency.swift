import Kindred
import Synchronization

/// The time from the return of a COMMIT to the update in the hands of the program, on an idle server.
struct LiveLatency: Sendable {
    private static let commits = 500
    private let database: Database
    private let writer: LiveWriter

    init(_ database: Database, _ writer: LiveWriter) { (self.database, self.writer) = (database, writer) }

    func measure() async throws -> [[String]] {
        let (values, found) = AsyncStream<(Int64, ContinuousClock.Instant)>.makeStream()
        let request = try await database.makeContext().fetch("one").where("id == 7").live()
        let follower = Task.detached {
            for try await update in request {
                if let n = try update.objects.first?.value(forKey: "n", as: Int64.self) { found.yield((n, .now)) }
            }
        }
        defer { follower.cancel() }
        var seen = values.makeAsyncIterator()
        _ = await seen.next()
        let short = try await times(Self.commits, &seen) { .microseconds(Int.random(in: 0...40_000)) }
        let long = try await times(10, &seen) { .seconds(2) }
        return [
            ["latency, p50", milliseconds(short.percentile(0.5)), "5 ms"],
            ["latency, p99", milliseconds(short.percentile(0.99)), "50 ms"],
            ["latency after 2 s of silence, p50", milliseconds(long.percentile(0.5)), "5 ms"],
        ]
    }

    private func times(
        _ count: Int, _ seen: inout AsyncStream<(Int64, ContinuousClock.Instant)>.Iterator, pause: () -> Duration
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
}
