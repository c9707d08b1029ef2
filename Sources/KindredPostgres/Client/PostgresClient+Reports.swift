/// The reports of a client on its statements and its server.
extension PostgresClient {
    /// Calls `handler` for every statement of this client, once it has been answered.
    ///
    /// The handler runs in the statement's task and delays it, so it has to be quick. Events hold no values.
    ///
    /// - Returns: the observation; it ends when it is cancelled or released.
    public func addObserver(_ handler: @escaping @Sendable (StatementEvent) -> Void) -> StatementObservation {
        StatementObservation(observers, observers.add(handler))
    }

    /// The server's notices and warnings to this client's sessions, and its reasons for ending a session.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending messages are kept.
    /// They may quote values of rows. Sends nothing.
    public func notices() -> AsyncStream<ServerMessage> {
        pool.context.notices.stream()
    }

    /// The changes of settings that the server reports, such as `TimeZone`, `in_hot_standby` and, from 18 on,
    /// `search_path`.
    ///
    /// From the call on until the loop is left or the client is closed; the last thousand pending changes are kept. A
    /// change is noticed with the next answer over its connection, or at once while that is idle; earlier changes are
    /// reported too. Sends nothing; while there are listeners each answer costs a check of some fifteen settings. A
    /// `client_encoding` other than UTF8 ends its connection instead.
    public func parameterChanges() -> AsyncStream<ServerParameterChange> {
        pool.context.parameterChanges.stream()
    }

    /// Logs a risk once.
    package func warn(of risk: SecurityRisk) {
        pool.context.warnings.log(risk, logger)
    }
}
