/// What a session sent with NOTIFY or `pg_notify`.
///
/// The payload comes from whoever may connect to the database: treat it as input, not as an instruction.
public struct PostgresNotification: Sendable, Hashable {
    /// The channel it was sent on.
    public let channel: String
    /// What was sent with it; empty if nothing was.
    public let payload: String
    /// The process of the session that sent it.
    public let processID: Int32

    package init(channel: String, payload: String, processID: Int32) {
        self.channel = channel
        self.payload = payload
        self.processID = processID
    }
}

/// What a listener has to tell.
public enum NotificationEvent: Sendable, Hashable {
    /// A notification has arrived.
    case notification(PostgresNotification)
    /// Notifications may have been lost: look at the state of things itself, then go on.
    ///
    /// Everything that is sent from here on comes after this event.
    case missed(Reason)

    /// Why notifications may have been lost.
    public enum Reason: Sendable, Hashable {
        /// The connection was lost; there is a new one now, which listens.
        case reconnected
        /// They came faster than they were taken; those that waited were thrown away.
        case overflow
    }
}
