import KindredPostgres
import KindredTesting
import Synchronization
import Testing

@Suite(.database) struct ObservationTests {
    @Test func anObserverSeesEveryStatementUntilItIsForgotten() async throws {
        try await withClient { client in
            let events = Mutex<[StatementEvent]>([])
            let observation = client.addObserver { event in events.withLock { $0.append(event) } }
            try await client.query("SELECT \(1), \("secret")")
            _ = try? await client.query("SELECT 1 / 0")
            try await Task.detached {
                _ = try await client.withTransaction { try await $0.query("SELECT 2 FROM generate_series(1, 3)") }
            }.value
            observation.cancel()
            try await client.query("SELECT 3")
            let seen = events.withLock { $0 }
            #expect(
                seen.map(\.sql) == [
                    "SELECT $1, $2", "SELECT 1 / 0", "BEGIN", "SELECT 2 FROM generate_series(1, 3)", "COMMIT",
                ])
            #expect(seen.map(\.rows) == [1, nil, 0, 3, 0])
            #expect(seen[1].error?.sqlState == .divisionByZero)
            #expect(seen.allSatisfy { $0.duration >= .zero })
            #expect(!"\(seen)".contains("secret"))
        }
    }

    @Test func aRecorderSeesItsTaskAndItsChildrenOnly() async throws {
        try await withClient { client in
            let (sum, recorder) = try await recordingStatements {
                async let other = Task.detached { try await client.query("SELECT 'elsewhere'").count }.value
                let own = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<3 { group.addTask { try await client.query("SELECT 'child'").count } }
                    return try await group.reduce(0, +)
                }
                return try await own + other
            }
            #expect(sum == 4)
            #expect(recorder.statements == Array(repeating: "SELECT 'child'", count: 3))
        }
    }
}
