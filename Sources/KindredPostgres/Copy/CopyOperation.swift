import Synchronization

/// State shared by a connection and the task that copies over it.
///
/// The connection delivers data under its lock, so nothing here calls back.
final class CopyOperation: Sendable {
    enum Direction: Sendable {
        case input, output
    }

    struct State {
        /// Data that was received and not yet taken.
        var chunks: [[UInt8]] = []
        var size = 0
        /// Whether the server accepts data.
        var isOpen = false
        /// Whether all written data has left the process.
        var isFlushed = true
        /// Whether the connection stopped reading until data is taken.
        var isPaused = false
        var result: Result<[QueryResult], any Error>?
        fileprivate var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The bytes that may be received and not taken.
    static let limit = 512 << 10

    let direction: Direction
    private let state = RankedMutex(State(), .leaf)

    init(_ direction: Direction) {
        self.direction = direction
    }

    /// Changes the state and lets the waiters check their condition.
    func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        let (result, waiters) = state.withLock { state in
            let result = body(&state)
            defer { state.waiters = [] }
            return (result, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return result
    }

    /// Adds data; returns whether the connection should pause reading.
    func append(_ chunk: [UInt8]) -> Bool {
        change { state in
            state.chunks.append(chunk)
            state.size += chunk.count
            state.isPaused = state.size >= Self.limit
            return state.isPaused
        }
    }

    /// The result of a read.
    enum Taken: Sendable {
        case data([[UInt8]])
        case nothing
        /// No data is left.
        case end(Result<[QueryResult], any Error>)
    }

    /// Takes the received data; `wasPaused` means that the connection has to resume reading.
    ///
    /// Under one lock: data may arrive right before the end.
    func take() -> (taken: Taken, wasPaused: Bool) {
        state.withLock { state in
            defer { (state.chunks, state.size, state.isPaused) = ([], 0, false) }
            if !state.chunks.isEmpty { return (.data(state.chunks), state.isPaused) }
            return (state.result.map { .end($0) } ?? .nothing, state.isPaused)
        }
    }

    /// Records the server's answer, or a failure.
    func finish(_ result: Result<[QueryResult], any Error>) {
        change { state in if state.result == nil { state.result = result } }
    }

    var result: Result<[QueryResult], any Error>? { state.withLock { $0.result } }

    /// Whether the server has begun the COPY.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Waits until a condition holds; to cancel the wait, finish the operation.
    func wait(until condition: @Sendable (State) -> Bool) async {
        while true {
            let isMet = state.withLock { condition($0) }
            if isMet { return }
            await withCheckedContinuation { waiter in
                let isMet = state.withLock { state in
                    if condition(state) { return true }
                    state.waiters.append(waiter)
                    return false
                }
                if isMet { waiter.resume() }
            }
        }
    }
}
