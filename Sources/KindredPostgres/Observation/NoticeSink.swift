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

/// Where a connection's notices go: to the log, never to standard error.
///
/// A server that ends an idle session says why in a notice, so the last such words are kept.
final class NoticeSink: Sendable {
    private let logger: Logger?
    private let fatal = Mutex<PostgresError?>(nil)
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

    /// Why the server ended the session, if it said so.
    var lastWords: PostgresError? { fatal.withLock { $0 } }

    /// How many bytes notices and notifications have taken up so far.
    var byteCount: Int { bytes.load(ordering: .relaxed) }

    /// Sends the connection's notices here.
    ///
    /// The sink has to live as long as the connection.
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

    /// Servers allow a channel 63 bytes and a payload 8,000; what has many more is none of a notification, and not kept.
    private static let maximumTextSize = 64 << 10

    /// Takes what others have sent to the session out of libpq's memory, and passes it on if somebody wants it.
    func takeNotifications(of connection: OpaquePointer) {
        while let notification = PQnotifies(connection) {
            defer { PQfreemem(notification) }
            let texts = [notification.pointee.relname, notification.pointee.extra].compactMap { $0.map { strlen($0) } }
            bytes.add(texts.reduce(11, +), ordering: .relaxed)
            guard let onNotification, let name = notification.pointee.relname,
                texts.allSatisfy({ $0 <= Self.maximumTextSize }), let channel = String(validatingCString: name)
            else { continue }
            // Text that is not valid could only be repaired to something that nobody sent.
            let payload = notification.pointee.extra.flatMap { String(validatingCString: $0) } ?? ""
            onNotification(
                PostgresNotification(channel: channel, payload: payload, processID: notification.pointee.be_pid))
        }
    }

    private func receive(_ message: ServerMessage) {
        // A crash of another session is told as a warning, just before the server ends this one.
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
