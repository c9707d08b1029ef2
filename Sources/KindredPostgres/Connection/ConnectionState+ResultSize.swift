import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The ceiling on what a result takes up in memory.
///
/// libpq gathers the rows of a result in memory that it tells the size of at the end. Until then the bytes are counted
/// that arrive, of which the result never takes up less.
extension ConnectionState {
    /// What has arrived of a result that is not complete.
    struct ArrivingResult {
        /// Whether something was read and no result was complete afterwards; only then is it worth counting.
        var isLong = false
        var bytes = 0
        /// How many results have been complete so far.
        var completeCount = 0

        mutating func end() {
            isLong = false
            bytes = 0
            completeCount += 1
        }
    }

    /// libpq reads at least so much at once, if it is there.
    private static let portion = 16 << 10

    /// How much waits in the socket to be read, if that is worth knowing.
    var countedInput: Int {
        guard arriving.isLong, inFlight.first?.copyPhase == nil else { return 0 }
        return bytesWaiting
    }

    /// Counts what was read, of which `waiting` bytes were there before; stops the server if it is too much.
    mutating func count(_ waiting: Int, completeBefore: Int, _ effects: inout Effects) {
        guard completeBefore == arriving.completeCount, let first = inFlight.first else { return }
        arriving.isLong = true
        guard waiting > 0 else { return }
        arriving.bytes += max(min(waiting, Self.portion), waiting - bytesWaiting)
        if arriving.bytes > context.configuration.maximumResultSize, first.stop == nil {
            stop(first.request.id, .tooLarge(limit: context.configuration.maximumResultSize), &effects)
        }
    }

    /// What is wrong with a complete result, if it is too large.
    func objection(toSizeOf result: OpaquePointer) -> PostgresError? {
        let limit = context.configuration.maximumResultSize
        guard PQresultMemorySize(result) > limit else { return nil }
        return Request.tooLarge(limit: limit, isExecuted: true)
    }

    private var bytesWaiting: Int {
        var count: Int32 = 0
        #if canImport(Darwin)
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(socket, SOL_SOCKET, SO_NREAD, &count, &size) == 0 ? Int(count) : 0
        #else
            return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
        #endif
    }
}

extension Request {
    /// The error of a statement whose result is larger than allowed.
    static func tooLarge(limit: Int, isExecuted: Bool) -> PostgresError {
        let fate = isExecuted ? "the statement was executed" : "the statement was stopped"
        return PostgresError(
            .resultTooLarge,
            """
            A result takes up more than \(limit) bytes; \(fate). Read it with a stream, ask for less, or raise the \
            configuration's maximumResultSize
            """)
    }
}
