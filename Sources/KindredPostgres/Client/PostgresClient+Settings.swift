extension PostgresClient {
    /// The settings of its statements; nil, as for the program's own SQL, stands for the settings of the surrounding
    /// transaction.
    package var settings: SessionSettings? { route.settings }

    /// Whether its statements run with settings or a role of their own.
    package var hasSettings: Bool { route.hasSettings }

    /// A limit for the clients of one tenant; nil where the configuration sets none.
    package func tenantLimit() -> ConnectionLimit? {
        configuration.pool.maximumConnectionsPerTenant.map { ConnectionLimit($0, of: pool, configuration.pool) }
    }

    /// Throws, before anything is sent, if the client's settings are refused, or if the task's transaction runs with
    /// other settings.
    ///
    /// A transaction without settings takes the client's.
    package func requireSettings() throws { try route.requireSettings(in: currentTransaction) }

    /// The text of a statement as it is sent.
    package func text(of statement: Statement) -> String {
        (settings?.schema?.resolved(statement) ?? statement).text.text
    }

    /// Whether the task has a transaction or a connection of its own on this client, which gets all of its statements.
    package var isInScope: Bool { currentTransaction != nil || currentLease != nil }
}
