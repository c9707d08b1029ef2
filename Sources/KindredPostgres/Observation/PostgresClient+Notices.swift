import Synchronization

extension PostgresClient {
    /// What the server remarks on its own while it works for this client: notices, warnings, and why it ends a session.
    ///
    /// From the call on until the loop is left; of those that nobody takes, the last thousand are kept. A remark may quote
    /// values of rows. Nothing is sent.
    public func notices() -> AsyncStream<ServerMessage> {
        pool.context.notices.stream()
    }
}

/// Who wants to know of a client's notices.
final class NoticeObservers: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<ServerMessage>.Continuation] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    func stream() -> AsyncStream<ServerMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ServerMessage.self, bufferingPolicy: .bufferingNewest(1_000))
        let id = state.withLock { state in
            state.lastID += 1
            state.streams[state.lastID] = continuation
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    /// Called with the connection locked, so it only leaves the message for others.
    func tell(_ message: ServerMessage) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(message) }
    }

    func finish() {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }

    private func remove(_ id: Int) {
        // The stream is freed after the mutex, because that may call back.
        let removed = state.withLock { $0.streams.removeValue(forKey: id) }
        withExtendedLifetime(removed) {}
    }
}
