/// The data of a COPY TO: a message for each row, in the statement's format.
///
/// Made by ``PostgresClient/copyOut(_:timeout:)``. Each loop runs the statement again.
public struct CopyOutput: AsyncSequence, Sendable {
    /// The bytes of a message.
    public typealias Element = [UInt8]

    let client: PostgresClient
    let text: String
    let timeout: Duration?

    /// Makes an iterator, which sends the statement with its first message.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(output: self)
    }

    /// Iterates over the messages once.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum State {
            case unopened
            case open(CopySession)
            case finished
        }

        private let output: CopyOutput
        private var state = State.unopened
        private var chunks: [[UInt8]] = []
        private var position = 0

        init(output: CopyOutput) {
            self.output = output
        }

        /// The next message, nil after the last.
        ///
        /// Throws `PostgresError` as a query does, and `CancellationError` if the task is cancelled.
        public mutating func next() async throws -> [UInt8]? {
            if position < chunks.count {
                defer { position += 1 }
                return chunks[position]
            }
            chunks = []
            position = 0
            do {
                guard let session = try await session(), let next = try await session.read() else {
                    state = .finished
                    return nil
                }
                chunks = next
            } catch {
                state = .finished
                throw error
            }
            position = 1
            return chunks[0]
        }

        private mutating func session() async throws -> CopySession? {
            switch state {
            case .finished: return nil
            case .open(let session): return session
            case .unopened:
                let session = try await CopySession.begin(
                    output.text, .output, on: output.client, timeout: output.timeout)
                state = .open(session)
                return session
            }
        }
    }
}
