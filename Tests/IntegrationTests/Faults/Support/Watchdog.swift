import Foundation

/// A process that cleans up after the tests, however they end.
enum Watchdog {
    /// A shell command that starts it; to be run as the folder's owner, before there is anything to clean up.
    ///
    /// It has a session of its own, so that it survives a kill of the tests with everything that they have started. It
    /// goes when the folder has gone. `end` is what to do before the folder is removed, for which `$1` is the shell's
    /// own process.
    static func command(for folder: String, end: String) -> String {
        """
        $(command -v setsid || echo env) sh -c '
            trap "" HUP INT TERM
            while [ -d \(folder) ] && ps -p \(ProcessInfo.processInfo.processIdentifier); do sleep 2; done
            # Again, because of what may just have been about to be made.
            for attempt in 1 2 3; do
                \(end)
                rm -rf \(folder)
                sleep 1
            done
        ' sh $$ </dev/null >/dev/null 2>&1 &
        """
    }
}
