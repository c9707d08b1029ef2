/// Limits the memory of a connection.
///
/// libpq buffers a result, and each message of the server, until it is complete, and also reads while it writes. So the
/// bytes that it has read and not yet returned are counted. A statement with too large an answer is cancelled; reading
/// pauses while the cancel request is in flight, so that at most the rest of the current row follows. If more follows,
/// the connection is closed.
extension ConnectionDriver {
    /// The bytes that libpq has read and not yet returned.
    struct ArrivingResult {
        /// nil while each read completes something; counting costs system calls.
        private var meter: InputMeter?
        private var shownBefore = 0
        /// Bytes since the last result, or since shortly after it.
        private(set) var bytes = 0
        /// The number of complete results.
        private(set) var completeCount = 0
        /// Whether reading pauses until the cancel request is sent.
        var isPaused = false
        /// Whether libpq may hold a partial message, and reads until it is complete.
        var mayBeUnfinished = true
        /// Whether the connection was cut off within a read.
        private(set) var isCut = false

        /// Lets libpq read about `limit` bytes at most.
        mutating func read(_ socket: Int32, limit: Int, _ body: () -> Bool) -> Bool {
            guard mayBeUnfinished else { return body() }
            meter?.willRead()
            defer { meter?.didRead() }
            let (isAlive, isCut) = ReadingWatch.shared.watch(socket, ceiling: limit, body)
            self.isCut = isCut
            return isAlive
        }

        /// Counts after a read that completed nothing.
        mutating func count(_ notices: NoticeSink, socket: Int32) {
            guard let meter else {
                meter = InputMeter(socket: socket)
                shownBefore = notices.byteCount
                return
            }
            bytes = meter.bytesRead - (notices.byteCount - shownBefore)
        }

        /// Records that a result was complete and has left libpq's memory, or is counted elsewhere.
        mutating func end() {
            meter = nil
            bytes = 0
            completeCount += 1
        }
    }

    /// The number of bytes that may follow beyond the limit after the cancel request: the rest of a row.
    private static let rest = 16 << 20

    /// Reads the server's input; false if the connection has ended.
    mutating func consumeInput(_ handle: ConnectionHandle) -> Bool {
        // Doubled: libpq's buffer may hold complete results besides the partial one.
        let limit = min(context.configuration.maximumResultSize, .max / 8) + Self.rest
        return arriving.read(socket, limit: 2 * limit) { handle.consumeInput() }
    }

    /// Ends a connection that was cut off because too much arrived in one read.
    mutating func endIfCut(_ effects: inout Effects) {
        guard arriving.isCut else { return }
        let limit = context.configuration.maximumResultSize
        if let first = state.inFlight.first, first.stop == nil { first.stop = .tooLarge(limit: limit) }
        end(Self.didNotStop(limit), &effects)
    }

    /// The size of an incomplete answer from which on its reading is timed.
    private static let small = 256 << 10

    /// The thread's processor time before libpq parses the bytes read; nil for a small answer.
    var effortSoFar: Duration? { arriving.bytes > Self.small ? SystemCalls.threadTime : nil }

    /// Ends a connection whose server sends messages that libpq parses too slowly, with no answer among them.
    ///
    /// Such as thousands of settings, each of which libpq compares with all earlier settings: meanwhile no deadline of
    /// the process is looked at.
    mutating func limitEffort(since start: Duration?, completeBefore: Int, _ effects: inout Effects) {
        guard let start, completeBefore == arriving.completeCount else { return }
        // The largest row takes a nanosecond for two bytes, at least.
        guard SystemCalls.threadTime - start > .milliseconds(100) + .nanoseconds(2 * arriving.bytes) else { return }
        end(
            PostgresError(
                .connectionLost,
                "The server sent more settings or messages than answers; the connection was closed"),
            &effects)
    }

    private static func didNotStop(_ limit: Int) -> PostgresError {
        PostgresError(
            .connectionLost, "The server sent more than \(limit) bytes and did not stop; the connection was closed")
    }

    /// Checks the bytes since the last complete result: past the limit it cancels the statement, further on it ends the
    /// connection.
    mutating func limitArriving(completeBefore: Int, _ effects: inout Effects) {
        let hasCompleted = completeBefore != arriving.completeCount
        arriving.mayBeUnfinished = !hasCompleted || !state.inFlight.isEmpty
        guard !hasCompleted else { return }
        arriving.count(notices, socket: socket)
        let limit = context.configuration.maximumResultSize
        guard arriving.bytes > limit else { return }
        if let first = state.inFlight.first, first.stop == nil {
            stop(first.request.id, reason: .tooLarge(limit: limit), &effects)
            guard effects.state.sendsCancel else { return }
            arriving.isPaused = true
            setReads(false)
        } else if state.inFlight.isEmpty || arriving.bytes - limit > Self.rest {
            end(Self.didNotStop(limit), &effects)
        }
    }

    /// Resumes reading if it was paused for a cancel request.
    mutating func resumeReading() {
        guard arriving.isPaused else { return }
        arriving.isPaused = false
        setReads(true)
    }

    /// The error of a complete result that is too large.
    func sizeViolation(of result: ResultHandle) -> PostgresError? {
        let limit = context.configuration.maximumResultSize
        guard result.memorySize > limit else { return nil }
        let mayTakeEffect = state.inFlight.first?.request.mayTakeEffect ?? true
        return Request.tooLarge(limit: limit, isExecuted: true).of(statement: nil, mayHaveTakenEffect: mayTakeEffect)
    }
}

extension Request {
    /// The error of a statement whose result is too large.
    static func tooLarge(limit: Int, isExecuted: Bool) -> PostgresError {
        let fate = isExecuted ? "the statement was executed" : "the statement was stopped"
        return PostgresError(
            .resultTooLarge,
            """
            A result, or one row of what is copied, takes up more than \(limit) bytes; \(fate). Read it with a stream, ask \
            for less, or raise the configuration's maximumResultSize
            """)
    }
}
