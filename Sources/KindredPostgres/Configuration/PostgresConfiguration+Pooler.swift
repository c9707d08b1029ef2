extension PostgresConfiguration {
    /// Whether a pooler stands between program and server, and for how long it lends a session.
    public enum Pooler: String, Sendable, Hashable, CaseIterable {
        /// Found out when connecting, without a statement where the server itself answers.
        ///
        /// A pooler that is found counts as ``transaction``: nothing that it says tells how it lends its sessions.
        case automatic
        /// The server itself answers; nothing is asked.
        case none
        /// A connection keeps its session, as with PgBouncer's `pool_mode = session`.
        case session
        /// Each transaction gets any free session, as with PgBouncer's `pool_mode = transaction`.
        ///
        /// Nothing is prepared by name unless `statementCacheCapacity` is set, and operations that need a session of
        /// their own are refused before anything is sent: LISTEN, migrations, and streams inside `withConnection`.
        case transaction
    }

    /// The number of prepared statements that a connection keeps behind a pooler.
    func cacheCapacity(behind pooler: Pooler) -> Int {
        pooler == .transaction && !hasOwnCacheCapacity ? 0 : statementCacheCapacity
    }
}
