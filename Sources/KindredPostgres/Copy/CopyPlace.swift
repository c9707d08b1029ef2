/// The connection of a COPY: the transaction's, the lease's, or one of its own.
enum CopyPlace {
    case transaction(PostgresTransaction)
    case lease(ConnectionLease)
    case own(PostgresClient, ConnectionPool.Lease)

    static func find(for client: PostgresClient, by deadline: MonotonicTime) async throws -> CopyPlace {
        if let transaction = client.currentTransaction {
            client.route.join(transaction.positions)
            return .transaction(transaction)
        }
        if let lease = client.currentLease {
            client.route.join(lease.positions)
            try await lease.waitForTransaction(by: deadline)
            return .lease(lease)
        }
        return .own(client, try await client.route.acquireExclusive(by: deadline))
    }

    var connection: PooledConnection {
        switch self {
        case .transaction(let transaction): transaction.connection
        case .lease(let lease): lease.lent.connection
        case .own(_, let lease): lease.connection
        }
    }

    /// The question behind the COPY; nil where the position does not matter, or is asked for at the transaction's end.
    func question(of client: PostgresClient, mayWrite: Bool) -> PositionQuestion? {
        switch self {
        case .transaction: nil
        case .lease(let lease): client.route.question(behind: mayWrite, in: lease.positions)
        case .own: client.route.question(behind: mayWrite)
        }
    }

    var isInTransaction: Bool { if case .transaction = self { true } else { false } }

    func send(_ request: Request, by deadline: MonotonicTime) {
        switch self {
        case .transaction(let transaction): transaction.send(request, by: deadline)
        case .lease(let lease): lease.send(request, by: deadline)
        case .own: connection.submit(request, by: deadline)
        }
    }

    /// Removes a request that waits for the end of a savepoint; false if it does not wait.
    func cancelWaiting(_ id: Request.ID) -> Bool {
        if case .transaction(let transaction) = self { transaction.cancel(id) } else { false }
    }

    /// Records a failure; returns the caller's error.
    func failed(_ error: any Error, _ text: String) -> any Error {
        if case .transaction(let transaction) = self { transaction.failed(error, text) } else { error }
    }

    func giveBack() async {
        guard case .own(let client, let lease) = self else { return }
        await client.pool.releaseExclusive(lease)
    }

    /// Gives the connection back once the server has stopped, for a task that has ended.
    func giveBack(after operation: CopyOperation) {
        guard case .own = self else { return }
        Task.detached {
            await operation.wait { $0.result != nil }
            await giveBack()
        }
    }
}
