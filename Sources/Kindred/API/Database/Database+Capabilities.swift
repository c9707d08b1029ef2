public import KindredPostgres

extension Database {
    /// The features of the server, found by trying each feature; see `PostgresClient.capabilities`.
    ///
    /// ```swift
    /// guard try await database.capabilities[.statementTriggers] == .yes else { return }
    /// try await database.tracking.install()  // of KindredLive
    /// ```
    ///
    /// The first use opens a connection outside of the pool, sends 32 statements, leaves nothing in the database, and closes
    /// it; later uses send nothing. Throws `PostgresError` `.connectionFailed` and its like.
    public var capabilities: ServerCapabilities {
        get async throws { try await client.capabilities }
    }
}
