import Synchronization

extension EmbeddedPostgres {
    /// The server that all parts of this process share, started by the first who asks.
    ///
    /// It runs until the process ends. A shared server that was stopped or has crashed is replaced by a new
    /// one at the next call; a start that failed is tried again.
    ///
    /// - Returns: The running server.
    /// - Throws: As ``start(options:)``.
    public static func shared() async throws -> EmbeddedPostgres {
        while true {
            let start = sharedStart.withLock { start in
                if let start { return start }
                // Not a child task: the server outlives the task, perhaps cancelled, that asked first.
                let new = Task { try await EmbeddedPostgres.start() }
                start = new
                return new
            }
            do {
                let server = try await start.value
                if server.isRunning { return server }
                forget(start)
            } catch {
                forget(start)
                throw error
            }
        }
    }

    private static let sharedStart = Mutex<Task<EmbeddedPostgres, any Error>?>(nil)

    private static func forget(_ start: Task<EmbeddedPostgres, any Error>) {
        sharedStart.withLock { if $0 == start { $0 = nil } }
    }
}
