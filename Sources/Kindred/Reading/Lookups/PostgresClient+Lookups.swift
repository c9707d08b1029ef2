import KindredPostgres

extension PostgresClient: LookupServer {
    var lookupConnectionCount: Int { configuration.pool.maximumConnections }

    func select(_ keys: [ObjectKey], of entity: EntityRuntime, waited: Duration) async throws -> QueryResult {
        let timeout = configuration.statementTimeout.map { max($0 - waited, .milliseconds(1)) }
        return try await executeUnobserved(try entity.select(byKeys: keys), timeout: timeout)
    }
}
