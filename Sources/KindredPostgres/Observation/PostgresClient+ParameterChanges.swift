/// A setting of a session that the server reports and that is no longer what it was.
public struct ServerParameterChange: Sendable, Hashable {
    /// The setting's name, such as `TimeZone` or `in_hot_standby`.
    public let name: String
    /// What it is now.
    public let value: String
    /// The server's process that the session belongs to.
    public let processID: Int32
}

extension PostgresClient {
    /// Changes of those settings that the server reports, such as `TimeZone`, `in_hot_standby` and, from 18 on, `search_path`.
    ///
    /// From the call on until the loop is left or the client is closed; of those that nobody takes, the last thousand
    /// are kept. A change is noticed with the next answer over its connection, or at once while that is idle; one from
    /// before the call is told too. Sends nothing, and costs a look at some fifteen settings with each answer as long
    /// as somebody listens. A `client_encoding` that is no longer UTF8 is no change but the end of its connection.
    public func parameterChanges() -> AsyncStream<ServerParameterChange> {
        pool.context.parameterChanges.stream()
    }
}
