import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Makes an exiting process wait until its servers' folders are removed.
///
/// The supervisors clean up by themselves after the process ended; with this they finish before the exit, instead
/// of some milliseconds after it.
enum ExitWatch {
    private static let folders = Mutex<[Int32: String]>([:])

    /// Registers the handler once.
    private static let isInstalled: Bool = atexit { ExitWatch.stopAll() } == 0

    static func add(_ supervisor: Int32, folder: String) {
        guard isInstalled else { return }
        folders.withLock { $0[supervisor] = folder }
    }

    static func remove(_ supervisor: Int32) {
        folders.withLock { _ = $0.removeValue(forKey: supervisor) }
    }

    /// Sends signals instead of using tasks: the exiting thread may be the only thread that could run them.
    private static func stopAll() {
        let folders = folders.withLock { $0 }
        for supervisor in folders.keys { kill(supervisor, SIGTERM) }
        var remainingWaits = 600
        for folder in folders.values {
            while unsafe access(folder, F_OK) == 0, remainingWaits > 0 {
                usleep(5_000)
                remainingWaits -= 1
            }
        }
    }
}
