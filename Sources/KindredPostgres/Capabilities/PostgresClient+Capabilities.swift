import Synchronization

extension PostgresClient {
    /// The features of the server, found by trying each feature rather than by its version; see ``ServerCapability``.
    ///
    /// ```swift
    /// if case .no(let reason) = try await client.capabilities[.listen] { print(reason) }
    /// ```
    ///
    /// The first use opens a connection outside of the pool, sends 32 statements in some 25 round trips, and closes it;
    /// later uses send nothing. Each feature is tried in a transaction of its own that is rolled back, on a temporary
    /// table where it needs one, so that nothing remains, nothing has to be granted but TEMPORARY, and a server without
    /// savepoints answers too. Where the role may have no temporary table, the catalog's facts count instead, and the
    /// rest is unknown.
    ///
    /// Nothing in the library asks for it before a call: a call that needs a missing feature fails with `PostgresError`
    /// `.unsupported`, or the like of its layer, and says what to do.
    ///
    /// Throws `PostgresError` `.connectionFailed` and its like, which are not kept.
    public var capabilities: ServerCapabilities {
        get async throws {
            if let known = origin.knownCapabilities.withLock({ $0 }) { return known }
            let found = try await CapabilityTrial.run(configuration)
            return origin.knownCapabilities.withLock { known in
                // If several tasks asked at once, all get the first task's answer.
                let first = known ?? found
                known = first
                return first
            }
        }
    }
}
