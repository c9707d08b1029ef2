import CLibPQ

/// The ceiling on what a connection takes up in memory.
///
/// libpq gathers the rows of a result, and each message of the server, in memory of its own until they are complete, and
/// reads by itself while it writes. So the bytes that it has read and not yet shown are counted. A statement whose answer
/// is too large is stopped; nothing is read while that is on its way, so that only the rest of the row comes which the
/// server was about to send. If more than that comes, the connection is given up.
extension ConnectionState {
    /// What libpq has read and not shown.
    struct ArrivingResult {
        /// nil as long as each reading completes something; counting costs system calls.
        private var meter: InputMeter?
        private var shownBefore = 0
        /// Since the last result, or since shortly after it.
        private(set) var bytes = 0
        /// How many results have been complete so far.
        private(set) var completeCount = 0
        /// Whether nothing is read until the server has been told to stop.
        var isPaused = false
        /// Whether libpq may have the beginning of a message, and reads on until it has all of it.
        var mayBeUnfinished = true
        /// Whether the connection was cut off in the middle of a reading.
        private(set) var isCut = false

        /// Lets libpq read, about `limit` bytes at most.
        mutating func read(_ socket: Int32, limit: Int, _ body: () -> Bool) -> Bool {
            guard mayBeUnfinished else { return body() }
            meter?.willRead()
            defer { meter?.didRead() }
            let (isAlive, isCut) = ReadingWatch.shared.watch(socket, ceiling: limit, body)
            self.isCut = isCut
            return isAlive
        }

        /// Counts after a reading that has completed nothing.
        mutating func count(_ notices: NoticeSink, socket: Int32) {
            guard let meter else {
                meter = InputMeter(socket: socket)
                shownBefore = notices.byteCount
                return
            }
            bytes = meter.bytesRead - (notices.byteCount - shownBefore)
        }

        /// Notes that something was complete, and has left libpq's memory or counts by itself.
        mutating func end() {
            meter = nil
            bytes = 0
            completeCount += 1
        }
    }

    /// So much may come beyond the limit from a server that has been told to stop: the rest of a row.
    private static let rest = 16 << 20

    /// Reads what has come from the server; false if the connection has ended.
    mutating func consumeInput(_ handle: OpaquePointer) -> Bool {
        // Twice as much: the buffer that libpq fills may hold complete results besides the one that is not.
        let limit = min(context.configuration.maximumResultSize, .max / 8) + Self.rest
        return arriving.read(socket, limit: 2 * limit) { PQconsumeInput(handle) == 1 }
    }

    /// Ends a connection that was cut off because too much arrived in one reading.
    mutating func endIfCut(_ effects: inout Effects) {
        guard arriving.isCut else { return }
        let limit = context.configuration.maximumResultSize
        if let first = inFlight.first, first.stop == nil { first.stop = .tooLarge(limit: limit) }
        end(Self.didNotStop(limit), &effects)
    }

    private static func didNotStop(_ limit: Int) -> PostgresError {
        PostgresError(
            .connectionLost, "The server sent more than \(limit) bytes and did not stop; the connection was closed")
    }

    /// Looks whether too much has arrived since something was complete; stops the server then, and at last the connection.
    mutating func limitArriving(completeBefore: Int, _ effects: inout Effects) {
        let hasCompleted = completeBefore != arriving.completeCount
        arriving.mayBeUnfinished = !hasCompleted || !inFlight.isEmpty
        guard !hasCompleted else { return }
        arriving.count(notices, socket: socket)
        let limit = context.configuration.maximumResultSize
        guard arriving.bytes > limit else { return }
        if let first = inFlight.first, first.stop == nil {
            stop(first.request.id, .tooLarge(limit: limit), &effects)
            guard effects.sendsCancel else { return }
            arriving.isPaused = true
            setReads(false)
        } else if inFlight.isEmpty || arriving.bytes - limit > Self.rest {
            end(Self.didNotStop(limit), &effects)
        }
    }

    /// Reads on, if the server was to be told to stop first.
    mutating func resumeReading() {
        guard arriving.isPaused else { return }
        arriving.isPaused = false
        setReads(true)
    }

    /// What is wrong with a complete result, if it is too large.
    func objection(toSizeOf result: OpaquePointer) -> PostgresError? {
        let limit = context.configuration.maximumResultSize
        guard PQresultMemorySize(result) > limit else { return nil }
        return Request.tooLarge(limit: limit, isExecuted: true)
    }
}

extension Request {
    /// The error of a statement whose result is larger than allowed.
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
