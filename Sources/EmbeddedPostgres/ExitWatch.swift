import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Makes a process that exits wait until its servers' folders are gone.
///
/// The supervisors clean up by themselves when the process is gone; this only makes the cleaning happen
/// before the exit instead of some milliseconds after it.
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

    /// Signals instead of tasks: the thread that exits may be the only one that Swift has for those.
    private static func stopAll() {
        let folders = folders.withLock { $0 }
        for supervisor in folders.keys { kill(supervisor, SIGTERM) }
        var remainingWaits = 600
        for folder in folders.values {
            while access(folder, F_OK) == 0, remainingWaits > 0 {
                usleep(5_000)
                remainingWaits -= 1
            }
        }
    }
}
