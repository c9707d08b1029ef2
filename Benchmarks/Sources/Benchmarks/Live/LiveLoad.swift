import CFloor
import Kindred
import KindredLive
import Synchronization

/// Many live requests of the form `foreignKey == constant`, while rows of their table change.
struct LiveLoad: Sendable {
    private let database: Database
    private let writer: LiveWriter

    init(_ database: Database, _ writer: LiveWriter) { (self.database, self.writer) = (database, writer) }

    /// 10,000 requests and 1,000 changes a second.
    func measure() async throws -> [[String]] {
        try await following(10_000) { counters in
            let counter = StatementCounter(database.client)
            let (given, spent, seconds) = (counters.updates.withLock { $0 }, floor_processor_seconds(), 10)
            try await writer.changeParts(ofOwners: 10_000, rate: 1_000, for: seconds)
            let share = (floor_processor_seconds() - spent) / Double(seconds)
            let statements = counter.count / seconds
            try await database.tracking.catchUp()
            return [
                ["load, 10,000 requests, 1,000 changes/s, processor", "\((share * 100).rounded()) %", "50 %"],
                ["load, statements/s", "\(statements)", "50"],
                ["load, updates/s", "\((counters.updates.withLock { $0 } - given) / seconds)", "1000"],
            ]
        }
    }

    /// The processor time of a change of which one request of so many hears.
    func measureRouting() async throws -> [[String]] {
        var lines: [[String]] = []
        for count in [100, 1_000, 10_000] {
            lines.append([
                "routing one change, \(count) requests, processor time",
                milliseconds(try await following(count) { _ in try await work(among: count) }), "flat",
            ])
        }
        return lines
    }

    private func work(among count: Int) async throws -> Double {
        let (rate, seconds) = (200, 5)
        // Warms up.
        try await writer.changeParts(ofOwners: count, rate: rate, for: 1)
        let spent = floor_processor_seconds()
        try await writer.changeParts(ofOwners: count, rate: rate, for: seconds)
        return (floor_processor_seconds() - spent) / Double(rate * seconds)
    }

    /// Runs `body` while each of the first owners has a live request for its parts; it gets their counters.
    private func following<T: Sendable>(
        _ count: Int, _ body: (Counters) async throws -> T
    ) async throws -> T {
        let counters = Counters()
        let database = database
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for owner in 1...count {
                group.addTask {
                    let request = try database.makeContext().fetch("part").where("owner_id == %@", owner)
                    for try await update in try await request.live() {
                        if case .first = update.cause { counters.first.withLock { $0 += 1 } }
                        counters.updates.withLock { $0 += 1 }
                    }
                }
            }
            while counters.first.withLock({ $0 }) < count { try await Task.sleep(for: .milliseconds(20)) }
            let result = try await body(counters)
            group.cancelAll()
            while let ended = await group.nextResult() {
                if case .failure(let error) = ended, !(error is CancellationError) { throw error }
            }
            return result
        }
    }

    private final class Counters: Sendable {
        let first = Mutex(0)
        let updates = Mutex(0)
    }
}
