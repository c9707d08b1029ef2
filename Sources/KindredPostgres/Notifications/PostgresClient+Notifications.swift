extension PostgresClient {
    /// Listens to a channel over a connection that is none of the pool's, and returns once the server knows it.
    ///
    /// ```swift
    /// for await event in try await client.listen(to: "orders") {
    ///     switch event {
    ///     case .notification(let notification): handle(notification.payload)
    ///     case .missed: lookAtEverything()
    ///     }
    /// }
    /// ```
    ///
    /// All that a client listens to shares one connection. It is opened again whenever it is lost, and the sequence says so.
    /// It needs a server or a pooler that lends whole sessions: behind others LISTEN has no effect, which is found out by a
    /// notification that is sent over a second connection.
    ///
    /// Sends LISTEN. Throws `PostgresError` `.invalidParameter` for a name that the server would cut, `.connectionFailed`,
    /// also behind such a pooler, or `.closed`.
    public func listen(to channel: String) async throws -> Notifications {
        try await listener.listen(to: channel)
    }

    /// The most that a notification can carry, in bytes.
    public static var maximumPayload: Int { 7_999 }

    /// Sends a notification, in a transaction with its commit; whoever listens gets it then.
    ///
    /// Equal notifications of one transaction arrive once. One statement.
    /// Throws `PostgresError` `.invalidParameter` for a name or a payload that is too long or holds a NUL, or as a query does.
    public func notify(_ channel: String, payload: String = "") async throws {
        _ = try SQLIdentifier.quote(channel)
        guard payload.utf8.count <= Self.maximumPayload else {
            throw PostgresError(
                .invalidParameter,
                "A notification carries at most \(Self.maximumPayload) bytes; this one has \(payload.utf8.count). Send a key"
            )
        }
        try await query("SELECT pg_notify(\(channel), \(payload))")
    }
}
