import Foundation
import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Faults of the connections by which a reader hears and reads.
@Suite(.database(.sql(FaultWorld.schema)), .timeLimit(.minutes(10))) struct ListenerFaultTests {
    /// Waits for the session that listens, if the server can notify: nil where readers poll.
    ///
    /// Its last statement was LISTEN, or the empty statement that asks for a sign of life.
    private func listener(_ followers: Followers, besides former: Int32? = nil) async throws -> Int32? {
        guard try await followers.database.tracking.status()?.notifiesReaders == true else { return nil }
        var found: Int32?
        try await eventually("nobody listens") {
            found = try await followers.other.query(
                """
                SELECT pid FROM pg_stat_activity
                WHERE application_name = 'followers' AND datname = current_database()
                    AND (query LIKE 'LISTEN%' OR query = '') AND pid IS DISTINCT FROM \(former)
                """
            ).first?.decode(0, as: Int32.self)
            return found != nil
        }
        return found
    }

    @Test("Listener killed") func killed() async throws {
        try await withFollowers { followers, other in
            var former: Int32?
            for id in 100..<103 {
                former = try await listener(followers, besides: former)
                if let former { try await other.query("SELECT pg_terminate_backend(\(former)::int)") }
                try await other.query("INSERT INTO item VALUES (\(Int32(id)), 1, 1)")
                try await followers.expectAgreement()
            }
            // All sessions at once.
            for id in 103..<106 {
                for session in try await other.followersSessions() {
                    try await other.query("SELECT pg_terminate_backend(\(session)::int)")
                }
                try await other.query("UPDATE item SET value = \(Int32(id)) WHERE id = 1")
                try await followers.expectAgreement()
            }
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("Listener black-holed") func blackHoled() async throws {
        let proxy = try FaultProxy()
        defer { proxy.stop() }
        try await withFollowers(configure: { configuration in
            configuration.endpoints = proxy.configuration.endpoints
            configuration.tls.mode = .disable
            (configuration.statementTimeout, configuration.connectTimeout) = (.seconds(20), .seconds(20))
            configuration.cancellationGrace = .milliseconds(100)
        }) { followers, other in
            _ = try await listener(followers)
            let retries = followers.database.tracking.metrics.retries
            // Bytes over the open connections are lost for good, and nothing ends the connections.
            proxy.set { _, _ in .stall }
            for id in 100..<110 { try await other.query("INSERT INTO item VALUES (\(Int32(id)), 1, 1)") }
            try await other.query("DELETE FROM item WHERE id = 2")
            try await eventually("the reader waits for ever") {
                followers.database.tracking.metrics.retries > retries
            }
            proxy.set { _, _ in .forward }
            // The program's own statements end the pool's dead connections, one by one.
            for _ in 0..<8 { _ = try? await followers.database.query("SELECT 1") }
            try await followers.expectAgreement()
            try await other.query("UPDATE item SET value = 7 WHERE id = 1")
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }

    @Test("Listener SIGSTOP") func stopped() async throws {
        try await RestartableServer.with { server in
            try await server.withFollowers { followers, other in
                _ = try await listener(followers)
                let sessions = try await other.followersSessions()
                #expect(!sessions.isEmpty)
                for session in sessions { try await server.signal(SIGSTOP, process: session) }
                for id in 100..<150 { try await other.query("INSERT INTO item VALUES (\(Int32(id)), 1, 1)") }
                try await other.query("UPDATE item SET value = 3 WHERE id = 1")
                for session in sessions { try await server.signal(SIGCONT, process: session) }
                try await followers.expectAgreement()
                #expect(followers.database.tracking.metrics.gaps.isEmpty)
            }
        }
    }

    @Test("Listener SIGSTOP for longer than the retention") func stoppedForLong() async throws {
        try await RestartableServer.with { server in
            try await server.withFollowers { followers, other in
                _ = try await listener(followers)
                let sessions = try await other.followersSessions()
                for session in sessions { try await server.signal(SIGSTOP, process: session) }
                // No reader has given a sign of life for an hour.
                try await other.query("SELECT setval('kindred.tracking_watch', 1)")
                let before = try await other.outboxCount()
                for id in 100..<150 { try await other.query("INSERT INTO item VALUES (\(Int32(id)), 1, 1)") }
                // The outbox does not grow.
                #expect(try await other.outboxCount() == before + 1)
                for session in sessions { try await server.signal(SIGCONT, process: session) }
                // As a process does that goes on.
                try await other.query("SELECT kindred.tracking_attend()")
                let said = try await followers.expectAgreement(allowing: [.unrecorded])
                #expect(said.first?.entities.contains("item") == true)
                try await other.query("UPDATE item SET value = 3 WHERE id = 1")
                // Again at most for transactions that ran when the reader was back.
                try await followers.expectAgreement(allowing: [.unrecorded])
            }
        }
    }

    @Test("Hostile payload on the channel") func hostilePayload() async throws {
        try await withFollowers { followers, other in
            _ = try await listener(followers)
            let payloads = [
                "", "\u{1}\u{7f}", "'; DROP TABLE item; --", "1:1:", #"{"snapshot": "0:0:", "op": "T"}"#,
                "kindred:/public/item?id=1", String(repeating: "x", count: 7_999),
                String(repeating: "\u{1F418}", count: 1_999),
            ]
            for channel in ["kindred_tracking", "kindred_tracking_locks"] {
                for payload in payloads { try await other.notify(channel, payload: payload) }
                try await other.query(
                    "SELECT pg_notify(\(channel), repeat('y', 100) || i) FROM generate_series(1, 10000) AS i")
            }
            try await other.query("INSERT INTO item VALUES (100, 1, 1)")
            try await followers.expectAgreement()
            #expect(followers.database.tracking.metrics.gaps.isEmpty)
        }
    }
}

extension PostgresClient {
    /// The number of records in the outbox, without records of DDL.
    func outboxCount() async throws -> Int {
        try await query(
            """
            SELECT (SELECT count(*) FROM kindred.tracking_outbox_0 WHERE op <> 'S')
                + (SELECT count(*) FROM kindred.tracking_outbox_1 WHERE op <> 'S')
            """
        ).first?.decode(0, as: Int.self) ?? -1
    }
}
