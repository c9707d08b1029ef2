import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Shuts down connections from which libpq reads too much in one call.
///
/// libpq reads a long message in one call as long as the server keeps up: 400 MB of a value under a limit of 8 MB. Only
/// another thread can stop that; it checks running calls each millisecond and ends when there are none. Where the
/// kernel does not count bytes read, as on macOS, the limit is checked between calls only.
final class ReadingWatch: Sendable {
    static let shared = ReadingWatch()

    /// A running call.
    private struct Reading {
        let ceiling: Int
        /// The kernel's count at the first check.
        var start: Int?
        var isCut = false
    }

    private struct State {
        var readings: [Int32: Reading] = [:]
        var hasThread = false
    }

    private let state = RankedMutex(State(), .leaf)
    /// The thread ends after this many idle checks.
    private static let patience = 200

    /// Runs a call that reads from a socket; shuts the socket down after `ceiling` bytes.
    ///
    /// - Returns: the call's result, and whether the socket was shut down.
    func watch<T>(_ socket: Int32, ceiling: Int, _ body: () -> T) -> (result: T, isCut: Bool) {
        let needsThread = state.withLock { state in
            state.readings[socket] = Reading(ceiling: ceiling)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { start() }
        let result = body()
        return (result, state.withLock { $0.readings.removeValue(forKey: socket)?.isCut ?? false })
    }

    private func start() {
        do {
            try DedicatedThread.start { self.run() }
        } catch {
            // Without a thread the next call tries again.
            state.withLock { $0.hasThread = false }
        }
    }

    private func run() {
        var idle = 0
        while true {
            usleep(1_000)
            let isOver = state.withLock { state in
                idle = state.readings.isEmpty ? idle + 1 : 0
                for socket in state.readings.keys { Self.look(at: socket, &state.readings[socket]) }
                if idle >= Self.patience { state.hasThread = false }
                return idle >= Self.patience
            }
            if isOver { return }
        }
    }

    /// Shuts the socket of a call down that has read too much.
    ///
    /// Under the mutex, so that the socket is still the call's. If libpq has just closed it, a new socket of the same
    /// number has not read as much.
    private static func look(at socket: Int32, _ reading: inout Reading?) {
        guard let known = reading, !known.isCut, let count = InputMeter.readSoFar(socket, isFirst: known.start == nil)
        else { return }
        guard let start = known.start else {
            reading?.start = count
            return
        }
        guard count - start > known.ceiling else { return }
        shutdown(socket, Int32(SHUT_RDWR))
        reading?.isCut = true
    }
}
