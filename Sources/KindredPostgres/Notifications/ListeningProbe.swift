import Logging
import Synchronization

/// Tests whether notifications arrive: a transaction pooler accepts LISTEN but never delivers.
///
/// A session's own notifications arrive even there, so the probe sends a notification over another connection while the
/// listening connection is idle.
final class ListeningProbe: Sendable {
    private static let patience = Duration.seconds(2)

    private let channel = "kindred_\(UInt64.random(in: 0 ..< .max))"
    private let hasHeard = Atomic(false)

    /// Takes the probe's notification; false for all other notifications.
    func hears(_ notification: PostgresNotification) -> Bool {
        guard notification.channel == channel else { return false }
        hasHeard.store(true, ordering: .releasing)
        return true
    }

    /// Asks for the session's process.
    static let question = "SELECT pg_catalog.pg_backend_pid()"

    /// Tests the connection; throws `PostgresError` `.connectionFailed` if nothing arrives.
    ///
    /// Sends nothing if the answer to the question is the connection's own process; else, behind a pooler, it takes
    /// another connection and three statements.
    func check(
        _ connection: PooledConnection, answer: QueryResult?, of listener: PostgresListener,
        _ run: ([String]) async throws -> [QueryResult]
    ) async throws {
        // Poolers invent the process numbers that they report.
        if try answer?.first?.decode(0, as: Int32.self) == connection.processID { return }
        _ = try await run(["LISTEN \(try SQLIdentifier.quote(channel))"])
        do {
            try await notify(listener)
        } catch {
            listener.logger?.warning(
                "could not test whether the pooler delivers notifications", metadata: ["error": "\(error)"])
            return
        }
        let end = MonotonicTime.now + Self.patience
        while !hasHeard.load(ordering: .acquiring) {
            guard MonotonicTime.now < end else {
                throw Self.withoutEffect(listener.configuration)
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        _ = try await run(["UNLISTEN \(try SQLIdentifier.quote(channel))"])
    }

    static func withoutEffect(_ configuration: PostgresConfiguration) -> PostgresError {
        PostgresError(
            .connectionFailed,
            """
            \(configuration) passes no notifications on: it is a pooler that lends sessions by transaction, where LISTEN has \
            no effect. Listen over a connection to the server itself, or to a pool of whole sessions
            """)
    }

    private func notify(_ listener: PostgresListener) async throws {
        let opened = try await Connector.open(
            listener.configuration, listener.startupRequirements, logger: listener.logger)
        let context = ConnectionContext(
            configuration: listener.configuration, types: TypeRegistry(), logger: listener.logger)
        let other = try PooledConnection(opened, context: context) { _ in }
        defer { other.end(PostgresListener.closed) }
        let statement = try ("SELECT pg_catalog.pg_notify(\(channel), '')" as SQL).statement(isProgrammed: false)
        _ = try await other.run(
            [statement], traits: Request.Traits(isUndoing: true), by: .now + Self.patience, isShielded: true)
    }
}
