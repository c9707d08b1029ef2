/// An event of a listener.
public enum NotificationEvent: Sendable, Hashable {
    /// A notification.
    case notification(PostgresNotification)
    /// Notifications may have been lost: reload the state, then go on.
    ///
    /// Later notifications come after this event.
    case missed(Reason)

    /// The reason why notifications may be missing.
    public enum Reason: Sendable, Hashable {
        /// The connection was lost and has been replaced.
        case reconnected
        /// Notifications arrived faster than they were taken; pending notifications were dropped.
        case overflow
    }
}
