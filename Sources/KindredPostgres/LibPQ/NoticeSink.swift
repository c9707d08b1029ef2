import HarmlessText
import Logging
import Synchronization

/// Sends a connection's notices to the log, never to standard error.
///
/// Keeps the last fatal one: a server that ends an idle session says why in a notice.
final class NoticeSink: Sendable {
    private let logger: Logger?
    private let fatal = RankedMutex<PostgresError?>(nil, .leaf)
    private let bytes = Atomic<Int>(0)
    private let hasUnreplicatedCommit = Atomic(false)

    private let onNotification: (@Sendable (PostgresNotification) -> Void)?

    private let observers: StreamObservers<ServerMessage>?

    init(
        logger: Logger?, observers: StreamObservers<ServerMessage>? = nil,
        onNotification: (@Sendable (PostgresNotification) -> Void)? = nil
    ) {
        self.logger = logger
        self.observers = observers
        self.onNotification = onNotification
    }

    /// The server's reason for ending the session, if it sent one.
    var lastWords: PostgresError? { fatal.withLock { $0 } }

    /// The bytes of all notices and notifications.
    var byteCount: Int { bytes.load(ordering: .relaxed) }

    /// Whether the server has said that it stopped its wait for a synchronous standby; said once.
    func takeUnreplicatedCommit() -> Bool {
        hasUnreplicatedCommit.load(ordering: .relaxed) && hasUnreplicatedCommit.exchange(false, ordering: .relaxed)
    }

    /// Receives a notice of the connection.
    func receive(_ notice: ResultHandle) {
        // The server's routine: the message is in the language of the session, and all warnings have its SQLSTATE.
        if notice.field("R") == "SyncRepWaitForLSN" { hasUnreplicatedCommit.store(true, ordering: .relaxed) }
        bytes.add(LibPQ.messageSize(notice), ordering: .relaxed)
        if let message = LibPQ.serverMessage(notice) { receive(message) }
    }

    /// A channel has at most 63 bytes and a payload 8,000; longer texts are corrupt and dropped.
    private static let maximumTextSize = 64 << 10

    /// Takes notifications out of libpq's memory and delivers them.
    func takeNotifications(of connection: ConnectionHandle) {
        while let notification = connection.nextNotification(maximumTextSize: Self.maximumTextSize) {
            bytes.add(11 + notification.size, ordering: .relaxed)
            guard let onNotification, let (channel, payload) = notification.texts else { continue }
            onNotification(
                PostgresNotification(channel: channel, payload: payload, processID: notification.processID))
        }
    }

    private func receive(_ message: ServerMessage) {
        // The server reports another session's crash as a warning, just before it ends the present session.
        if message.isFatal || message.sqlState == .crashShutdown {
            let error = PostgresError(
                .connectionLost, "The server ended the connection: \(message.message)", server: message)
            fatal.withLock { $0 = error }
        }
        observers?.tell(message)
        logger?.debug(
            "notice from the server",
            metadata: [
                "severity": "\(message.severity.harmless)",
                "sqlstate": "\((message.sqlState?.rawValue ?? "").harmless)",
            ])
    }
}
