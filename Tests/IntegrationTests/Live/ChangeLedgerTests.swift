import Foundation
import KindredTesting
import Testing

@testable import Kindred

private let schema =
    "CREATE TABLE ledger (id bigint PRIMARY KEY, writer integer NOT NULL, value integer NOT NULL DEFAULT 0);"

/// Every change of many writers is told, and none twice, whatever happens to the reader's connections.
///
/// `KINDRED_LEDGER=1000000` is the long run.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(60))) struct ChangeLedgerTests {
    private static let count =
        ProcessInfo.processInfo.environment["KINDRED_LEDGER"].flatMap { Int($0) } ?? 20_000
    private static let writers = count > 100_000 ? 64 : 8
    private static let kills = count > 100_000 ? 200 : 20

    /// Inserts rows; some transactions have subtransactions, some are rolled back.
    private func write(_ client: PostgresClient, writer: Int) async throws {
        struct Undone: Error {}
        let share = Self.count / Self.writers
        for number in 0..<share {
            let id = Int64(writer * share + number)
            func insert(_ id: Int64) async throws {
                try await client.query("INSERT INTO ledger VALUES (\(id), \(Int32(writer)))")
            }
            switch number % 10 {
            case 0:
                // A number that is rolled back first.
                do {
                    try await client.withTransaction { _ in
                        try await insert(id)
                        throw Undone()
                    }
                } catch is Undone {}
                try await insert(id)
            case 1:
                try await client.withTransaction { _ in
                    do {
                        try await client.withTransaction { _ in
                            try await insert(-id - 1)
                            throw Undone()
                        }
                    } catch is Undone {}
                    try await client.withTransaction { _ in try await insert(id) }
                }
            default: try await insert(id)
            }
        }
    }

    @Test func nothingIsLostAndNothingIsToldTwice() async throws {
        try await withFollowedTables("ledger") { database, context, other in
            let changes = try await context.changes(of: "ledger")
            let last = Int64(Self.count)
            let reading = Task {
                var seen: Set<Int64> = []
                for try await element in changes {
                    guard case .changes(let changes) = element else {
                        Issue.record("\(element)")
                        continue
                    }
                    for id in changes.inserted {
                        guard case .integer(let number)? = id.values.first else { continue }
                        #expect(seen.insert(number).inserted, "\(number) came twice")
                    }
                    #expect(changes.deleted.isEmpty && changes.updated.isEmpty)
                    if seen.contains(last) { break }
                }
                return seen
            }
            var configuration = other.configuration
            configuration.pool.maximumConnections = Self.writers
            configuration.applicationName = "kindred writer"
            let killing = Task {
                for _ in 0..<Self.kills {
                    try await Task.sleep(for: .milliseconds(50))
                    try await other.query(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                            AND application_name <> 'kindred writer'
                        """)
                }
            }
            try await lend(configuration) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<Self.writers {
                        group.addTask { try await self.write(client, writer: writer) }
                    }
                    try await group.waitForAll()
                }
                _ = try await killing.value
                try await client.query("INSERT INTO ledger VALUES (\(last), 0)")
            }
            let seen = try await reading.value
            let there = try await other.query("SELECT id FROM ledger").map { try $0.decode(0, as: Int64.self) ?? -1 }
            #expect(seen == Set(there))
        }
    }
}
