import Synchronization

/// The streams that report events of a client's connections.
final class StreamObservers<Element: Sendable>: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<Element>.Continuation] = [:]
        var lastID = 0
        var isFinished = false
    }

    private let state = RankedMutex(State(), .leaf)
    /// Kept beside the streams: cheap to check when there are none.
    private let count = Atomic(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(1_000))
        let id = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            state.lastID += 1
            state.streams[state.lastID] = continuation
            count.store(state.streams.count, ordering: .relaxed)
            return state.lastID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    /// Called with the connection locked, so it only enqueues.
    func tell(_ element: Element) {
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(element) }
    }

    /// Ends every stream, also later streams.
    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }

    private func remove(_ id: Int) {
        // Frees the stream outside of the mutex, as that may call back.
        let removed = state.withLock { state in
            defer { count.store(state.streams.count, ordering: .relaxed) }
            return state.streams.removeValue(forKey: id)
        }
        withExtendedLifetime(removed) {}
    }
}
