extension PostgresClient {
    /// Whether its statements run with settings or a role of their own.
    package var hasSettings: Bool { settings?.statement != nil }

    /// A limit for the clients of one tenant; nil where the configuration sets none.
    package func tenantLimit() -> ConnectionLimit? {
        configuration.pool.maximumConnectionsPerTenant.map { ConnectionLimit($0, of: pool, configuration.pool) }
    }

    /// Throws, before anything is sent, if the client's settings are refused, or if the task's transaction runs with
    /// other settings.
    ///
    /// A transaction without settings takes the client's.
    package func requireSettings() throws { try requireSettings(in: currentTransaction) }

    /// As `requireSettings()`, for the task's transaction.
    func requireSettings(in transaction: PostgresTransaction?) throws {
        guard let settings else { return }
        if let refusal = settings.refusal { throw refusal }
        try transaction?.adopt(settings)
    }

    /// Throws, outside of transactions, for statements that would end the implicit transaction with the settings, or
    /// make a longer transaction of it: the settings would be missing behind its COMMIT, or stay for the program's own
    /// statements.
    func requireOneTransaction(_ statements: [Statement]) throws {
        guard hasSettings,
            let found = statements.first(where: { $0.text.mayCommitInside || $0.text.effect == .transactionControl })
        else { return }
        throw PostgresError(
            .invalidParameter,
            """
            BEGIN, COMMIT and their like, and what may commit, such as CALL, DO and VACUUM, cannot be sent alone with the \
            settings of a context, which end with the transaction: put CALL and DO into the context's transaction, and send \
            the others over the database
            """,
            statement: found.text.text)
    }

    /// Statements as they are sent: with the names and types of the client's tenant, if it has one.
    func resolved(_ statements: [Statement]) -> [Statement] {
        guard let schema = settings?.schema else { return statements }
        return statements.map(schema.resolved)
    }

    /// The text of a statement as it is sent.
    package func text(of statement: Statement) -> String {
        (settings?.schema?.resolved(statement) ?? statement).text.text
    }

    /// Throws if the client has settings, for texts that are sent by the simple protocol, which takes no parameters,
    /// outside of the task's transaction.
    func requireNoSettings() throws {
        guard settings?.isEmpty == false else { return }
        throw PostgresError(
            .invalidParameter, "A script, and a COPY outside of transactions, cannot run with the settings of a context"
        )
    }
}
