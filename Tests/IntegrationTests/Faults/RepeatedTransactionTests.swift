import Foundation
import KindredPostgres
import KindredTesting
import Testing

/// Row L2 of the fault catalogue for a whole transaction: nothing of it took effect, and its caller has asked for repeats.
///
/// A transaction that is lost with COMMIT is never run again: `LostConnectionFaultTests`.
@Suite(.database("CREATE TABLE note (id bigint PRIMARY KEY)")) struct RepeatedTransactionTests {
    /// Where a transaction's session ends: before a statement, in a statement, or before COMMIT.
    enum End: CaseIterable {
        case beforeStatement, inStatement, beforeCommit
    }

    @Test("L2: what was lost before COMMIT was sent is run again when asked", arguments: End.allCases)
    func lostBeforeCommit(end: End) async throws {
        try await withClient { client in
            try await withClient { other in
                var runs = 0
                try await client.withTransaction(retry: .attempts(2)) { _ in
                    runs += 1
                    try await client.query("INSERT INTO note VALUES (1)")
                    guard runs == 1 else { return }
                    switch end {
                    case .beforeStatement:
                        try await other.endSessions([client.processID])
                        try await client.query("INSERT INTO note VALUES (2)")
                    case .inStatement: try await client.query("SELECT pg_terminate_backend(pg_backend_pid())")
                    case .beforeCommit: try await other.endSessions([client.processID])
                    }
                }
                #expect(runs == 2)
                let notes = try await other.query("SELECT array_agg(id)::text FROM note")
                #expect(try notes[0][0] == "{1}")
            }
        }
    }

    @Test("L2: a lost transaction is an error where it was not asked for, too often, and where it cannot be replaced")
    func lostForGood() async throws {
        try await withClient { client in
            func expectLost(_ expected: Int, _ body: (_ lose: () async throws -> Void) async throws -> Void) async {
                var runs = 0
                await expectPostgresError(.connectionLost) {
                    try await body {
                        runs += 1
                        try await client.query("SELECT pg_terminate_backend(pg_backend_pid())")
                    }
                }
                #expect(runs == expected)
            }
            await expectLost(1) { lose in try await client.withTransaction { _ in try await lose() } }
            await expectLost(3) { lose in
                try await client.withTransaction(retry: .attempts(3)) { _ in try await lose() }
            }
            // A savepoint ends with the transaction around it, and a lease has one connection.
            await expectLost(1) { lose in
                try await client.withTransaction { _ in
                    try await client.withTransaction(retry: .attempts(3)) { _ in try await lose() }
                }
            }
            await expectLost(1) { lose in
                try await client.withConnection { _ in
                    try await client.withTransaction(retry: .attempts(3)) { _ in try await lose() }
                }
            }
            try await expectUsable(client)
        }
    }

    @Test("L2: where a killed process takes all sessions with it, the next attempt waits for the server")
    func lostServerBeforeCommit() async throws {
        try await RestartableServer.with { server in
            try await lend(server.configuration) { client in
                try await client.query("CREATE TABLE note (id bigint PRIMARY KEY)")
                var runs = 0
                try await client.withTransaction(retry: .attempts(5)) { _ in
                    runs += 1
                    try await client.query("INSERT INTO note VALUES (\(runs))")
                    guard runs == 1 else { return }
                    try await server.signal(SIGKILL, process: Int32(try await client.processID))
                    try await eventually("the session is gone") {
                        do {
                            try await client.query("SELECT 1")
                        } catch is PostgresError {
                            return true
                        }
                        return false
                    }
                }
                #expect(runs > 1)
                let notes = try await client.query("SELECT array_agg(id)::text FROM note")
                #expect(try notes[0][0] == .string("{\(runs)}"))
            }
        }
    }
}
