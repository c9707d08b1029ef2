/// A notification sent with NOTIFY or `pg_notify`.
///
/// Every role that may connect to the database can send one: treat the payload as untrusted input.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel.
    public let channel: String
    /// The payload; may be empty.
    public let payload: String
    /// The process of the sending session.
    public let processID: Int32

    package init(channel: String, payload: String, processID: Int32) {
        self.channel = channel
        self.payload = payload
        self.processID = processID
    }
}

/// A changed setting of a session, as reported by the server.
public struct ServerParameterChange: Sendable, Hashable {
    /// The setting's name, such as `TimeZone` or `in_hot_standby`.
    public let name: String
    /// Its new value.
    public let value: String
    /// The server process of the session.
    public let processID: Int32
}
