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
    }

    /// The bytes that may be received and not taken.
    static let limit = 512 << 10

    let direction: Direction
    /// The state, and the tasks that wait for a condition on it.
    private let queue = WaitQueue<State, @Sendable (State) -> Bool, Void>(State(), order: .any) { state, condition in
        condition(state) ? () : nil
    }

    init(_ direction: Direction) {
        self.direction = direction
    }

    /// Changes the state and lets the waiters check their condition.
    func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        queue.change(body)
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
    func drain() -> (taken: Taken, wasPaused: Bool) {
        queue.change { state in
            defer { (state.chunks, state.size, state.isPaused) = ([], 0, false) }
            if !state.chunks.isEmpty { return (.data(state.chunks), state.isPaused) }
            return (state.result.map { .end($0) } ?? .nothing, state.isPaused)
        }
    }

    /// Records the server's answer, or a failure.
    func finish(_ result: Result<[QueryResult], any Error>) {
        change { state in if state.result == nil { state.result = result } }
    }

    var result: Result<[QueryResult], any Error>? { queue.change { $0.result } }

    /// Whether the server has begun the COPY.
    var isOpen: Bool { queue.change { $0.isOpen } }

    /// Waits until a condition holds; to cancel the wait, finish the operation.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async {
        await queue.waitShielded(for: condition)
    }
}
