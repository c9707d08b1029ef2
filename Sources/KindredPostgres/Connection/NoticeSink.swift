import CLibPQ
import Logging
import Synchronization

/// Where a connection's notices go: to the log, never to standard error.
///
/// A server that ends an idle session says why in a notice, so the last such words are kept.
final class NoticeSink: Sendable {
    private let logger: Logger?
    private let fatal = Mutex<ServerMessage?>(nil)
    private let received = Atomic<Int>(0)

    init(logger: Logger?) {
        self.logger = logger
    }

    /// Why the server ended the session, if it said so.
    var lastWords: ServerMessage? { fatal.withLock { $0 } }

    /// How many notices have come so far.
    var count: Int { received.load(ordering: .relaxed) }

    /// Sends the connection's notices here.
    ///
    /// The sink has to live as long as the connection.
    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { argument, result in
                guard let argument, let result, let message = LibPQ.serverMessage(result) else { return }
                Unmanaged<NoticeSink>.fromOpaque(argument).takeUnretainedValue().receive(message)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func receive(_ message: ServerMessage) {
        received.add(1, ordering: .relaxed)
        // A crash of another session is told as a warning, just before the server ends this one.
        if message.isFatal || message.sqlState == .crashShutdown { fatal.withLock { $0 = message } }
        logger?.debug(
            "notice from the server",
            metadata: ["severity": "\(message.severity)", "sqlstate": "\(message.sqlState?.rawValue ?? "")"])
    }
}
