import Kindred
import KindredLive
import KindredTesting
import Synchronization
import Testing

/// `Tracking.Options(wakeUp: .poll)`.
@Suite(.database(.sql(Listening.schema)), .timeLimit(.minutes(5))) struct PollingTests {
    /// Statements that a client has sent.
    private final class Sent: Sendable {
        let texts = Mutex<[String]>([])

        func contains(_ word: String) -> Bool { texts.withLock { $0.contains { $0.contains(word) } } }
    }

    /// The pool has one connection: one session more is the listener's.
    @Test(arguments: [true, false]) func onlyNotifyingOpensAConnection(isPolling: Bool) async throws {
        let name = "polling_\(isPolling)"
        var main = try Listening.direct(name)
        main.pool.maximumConnections = 1
        try await Listening.with(main, isPolling ? .poll : .notify) { database, other in
            guard try await Listening.isPossible(database) else { return }
            let sent = Sent()
            let observation = database.client.addObserver { event in sent.texts.withLock { $0.append(event.sql) } }
            let changes = try await database.makeContext().changes(of: "person")
            let locks = Task {
                for try await _ in try database.makeContext().locks(of: "person") {}
            }
            if isPolling {
                // After the first reading without changes it would listen.
                for count in stride(from: 5, through: 20, by: 5) {
                    try await eventually("it does not read") { database.tracking.metrics.readings > count }
                    #expect(try await Listening.sessions(name, other).count <= 1)
                }
                #expect(!sent.contains("tracking_sleep") && !database.tracking.metrics.isListening)
                #expect(database.tracking.metrics.wakeUps == 0)
            } else {
                try await eventually("it does not sleep") { sent.contains("tracking_sleep") }
                #expect(try await Listening.sessions(name, other).count == 2)
            }
            try await Listening.expectChange(in: database, by: other)
            locks.cancel()
            observation.cancel()
            withExtendedLifetime(changes) {}
        }
    }
}
