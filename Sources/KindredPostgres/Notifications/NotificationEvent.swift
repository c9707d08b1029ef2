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
        /// They arrived faster than they were taken; the pending ones were dropped.
        case overflow
    }
}

/// A channel's name, compared by bytes as the server does: two spellings of "é" are two channels.
struct ChannelName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
