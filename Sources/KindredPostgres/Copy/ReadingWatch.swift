import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Ends connections from which libpq reads more in one call than it may.
///
/// libpq reads a long message in one call as long as the server keeps up: 400 MB of a value under a limit of 8 MB. Only
/// another thread can stop that. So such calls are looked at each millisecond, by a thread that ends when there are none.
/// Where the kernel does not count what is read, as on macOS, the ceiling is checked between calls alone.
final class ReadingWatch: Sendable {
    static let shared = ReadingWatch()

    /// A call that is under way.
    private struct Reading {
        let ceiling: Int
        /// What the kernel had counted at the first look.
        var start: Int?
        var isCut = false
    }

    private struct State {
        var readings: [Int32: Reading] = [:]
        var hasThread = false
    }

    private let state = Mutex(State())
    /// So many looks without anything to see end the thread.
    private static let patience = 200

    /// Runs a call that reads from a socket, which is shut down when more than `ceiling` bytes have been read.
    ///
    /// - Returns: Whether that has happened, beside what the call returns.
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
            // The next call tries again.
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

    /// Cuts a call off that has read too much.
    ///
    /// Under the mutex, so that the socket is the call's. If libpq has just closed it, another one of its number has not
    /// had as much to read.
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
