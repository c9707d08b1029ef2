import KindredPostgres

/// Sends shared look-ups by key: the client, which only the rooms above use.
protocol LookupServer: Sendable {
    /// The limit of connections.
    var lookupConnectionCount: Int { get }

    /// Selects rows by their keys.
    ///
    /// - Parameter waited: the time that the first look-up has waited, which counts for the timeout.
    func select(_ keys: [ObjectKey], of entity: EntityRuntime, waited: Duration) async throws -> QueryResult
}
