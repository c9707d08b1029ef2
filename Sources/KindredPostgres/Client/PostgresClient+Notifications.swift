extension PostgresClient {
    /// Listens to a channel over a connection outside of the pool; returns once the server has confirmed.
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
    /// All of a client's channels share one connection. When it is lost it is reopened, and the sequence reports the
    /// gap. LISTEN needs a server or a session pooler; behind a transaction pooler it has no effect, which a test
    /// notification over a second connection detects.
    ///
    /// Sends LISTEN. Throws `PostgresError` `.invalidParameter` for a name that the server would truncate,
    /// `.connectionFailed`, also behind such a pooler, `.unsupported` if the server has no LISTEN, or `.closed`.
    public func listen(to channel: String) async throws -> Notifications {
        try await listener.listen(to: channel)
    }

    /// The largest payload, in bytes.
    public static var maximumPayload: Int { 7_999 }

    /// Sends a notification; in a transaction, with its commit.
    ///
    /// Equal notifications of one transaction arrive once. One statement. Throws `PostgresError` `.invalidParameter`
    /// for a name or payload that is too long or has a NUL, or as a query does.
    public func notify(_ channel: String, payload: String = "") async throws {
        _ = try SQLIdentifier.quote(channel)
        guard payload.utf8.count <= Self.maximumPayload else {
            throw PostgresError(
                .invalidParameter,
                "A notification carries at most \(Self.maximumPayload) bytes; this one has \(payload.utf8.count). Send a key"
            )
        }
        // VALUES, and not SELECT: it does more than read.
        let sql: SQL = "VALUES (pg_catalog.pg_notify(\(channel), \(payload)))"
        try await execute(sql.statement(isProgrammed: false))
    }
}
