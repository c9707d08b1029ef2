import Synchronization

/// What a connection and the task that copies over it tell each other.
///
/// The connection hands data in while it is locked, so nothing here calls back.
final class CopyOperation: Sendable {
    enum Direction: Sendable {
        case input, output
    }

    struct State {
        /// Data that has arrived and nobody has taken.
        var chunks: [[UInt8]] = []
        var size = 0
        /// Whether the server takes data.
        var isOpen = false
        /// Whether everything written so far has left the process.
        var isFlushed = true
        /// The connection stopped reading until somebody takes what has arrived.
        var isPaused = false
        var result: Result<[QueryResult], any Error>?
        fileprivate var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// So much may have arrived and not be taken.
    static let limit = 512 << 10

    let direction: Direction
    private let state = Mutex(State())

    init(_ direction: Direction) {
        self.direction = direction
    }

    /// Changes what is known and lets everybody look who waits.
    func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        let (result, waiters) = state.withLock { state in
            let result = body(&state)
            defer { state.waiters = [] }
            return (result, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return result
    }

    /// Takes in data; returns whether the connection should stop reading.
    func append(_ chunk: [UInt8]) -> Bool {
        change { state in
            state.chunks.append(chunk)
            state.size += chunk.count
            state.isPaused = state.size >= Self.limit
            return state.isPaused
        }
    }

    /// What there is to take.
    enum Taken: Sendable {
        case data([[UInt8]])
        case nothing
        /// All data was taken before.
        case end(Result<[QueryResult], any Error>)
    }

    /// Takes what has arrived; `wasPaused` says that the connection has to be told to read on.
    ///
    /// One look for both: data may come right before the end.
    func take() -> (taken: Taken, wasPaused: Bool) {
        state.withLock { state in
            defer { (state.chunks, state.size, state.isPaused) = ([], 0, false) }
            if !state.chunks.isEmpty { return (.data(state.chunks), state.isPaused) }
            return (state.result.map { .end($0) } ?? .nothing, state.isPaused)
        }
    }

    /// Notes that the server has answered, or that nobody will.
    func finish(_ result: Result<[QueryResult], any Error>) {
        change { state in if state.result == nil { state.result = result } }
    }

    var result: Result<[QueryResult], any Error>? { state.withLock { $0.result } }

    /// Whether the server has begun to copy.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Waits until a condition holds; whoever cancels the wait finishes the operation.
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
