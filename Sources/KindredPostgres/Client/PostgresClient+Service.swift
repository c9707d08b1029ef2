extension PostgresClient {
    /// Waits until the client is closed or the task is cancelled, then closes the client.
    ///
    /// Optional; for a task of the program's own. In a `ServiceGroup` use `DatabaseService` of `KindredService`: this
    /// method does not notice a graceful shutdown.
    public func run() async throws {
        await waitForClosing()
        await close()
    }

    /// Waits until the client is closed or the task is cancelled.
    package func waitForClosing() async {
        try? await closing.wait()
    }
}
