extension PostgresClient {
    /// What the server remarks on its own while it works for this client: notices, warnings, and why it ends a session.
    ///
    /// From the call on until the loop is left or the client is closed; of those that nobody takes, the last thousand
    /// are kept. A remark may quote values of rows. Nothing is sent.
    public func notices() -> AsyncStream<ServerMessage> {
        pool.context.notices.stream()
    }
}
