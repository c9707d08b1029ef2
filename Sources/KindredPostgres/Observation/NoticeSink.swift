import CLibPQ
import HarmlessText
import Logging
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sends a connection's notices to the log, never to standard error.
///
/// Keeps the last fatal one: a server that ends an idle session says why in a notice.
final class NoticeSink: Sendable {
    private let logger: Logger?
    private let fatal = RankedMutex<PostgresError?>(nil, .leaf)
    private let bytes = Atomic<Int>(0)

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

    /// Why the server ended the session, if it sent a reason.
    var lastWords: PostgresError? { fatal.withLock { $0 } }

    /// The bytes of all notices and notifications.
    var byteCount: Int { bytes.load(ordering: .relaxed) }

    /// Receives the connection's notices; the sink has to outlive the connection.
    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { argument, result in
                guard let argument, let result else { return }
                let sink = Unmanaged<NoticeSink>.fromOpaque(argument).takeUnretainedValue()
                sink.bytes.add(LibPQ.messageSize(result), ordering: .relaxed)
                if let message = LibPQ.serverMessage(result) { sink.receive(message) }
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A channel has at most 63 bytes and a payload 8,000; longer texts are corrupt and dropped.
    private static let maximumTextSize = 64 << 10

    /// Takes notifications out of libpq's memory and delivers them.
    func takeNotifications(of connection: OpaquePointer) {
        while let notification = PQnotifies(connection) {
            defer { PQfreemem(notification) }
            let texts = [notification.pointee.relname, notification.pointee.extra].compactMap { $0.map { strlen($0) } }
            bytes.add(texts.reduce(11, +), ordering: .relaxed)
            guard let onNotification, let name = notification.pointee.relname,
                texts.allSatisfy({ $0 <= Self.maximumTextSize }), let channel = String(validatingCString: name)
            else { continue }
            // Invalid text is dropped; repairing it would alter it.
            let payload = notification.pointee.extra.flatMap { String(validatingCString: $0) } ?? ""
            onNotification(
                PostgresNotification(channel: channel, payload: payload, processID: notification.pointee.be_pid))
        }
    }

    private func receive(_ message: ServerMessage) {
        // The server reports another session's crash as a warning, just before it ends this one.
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
