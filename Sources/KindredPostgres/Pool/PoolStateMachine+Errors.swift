extension PoolStateMachine {
    /// The error of a caller that got no connection, with the pool's state.
    ///
    /// - Parameters:
    ///   - failure: the error of the last attempt to connect.
    ///   - isStatements: whether the deadline was the statement's own, not the acquire timeout.
    func error(_ refusal: Refusal, lastFailure failure: PostgresError?, isStatements: Bool) -> PostgresError {
        let leased = connections.count { $0.state == .leased }
        let facts = """
            \(connections.count) of \(options.maximumConnections) connections, \(leased) of them leased, \
            \(idle.count) idle; \(waiters.count) tasks wait
            """
        switch refusal {
        case .closed:
            return PostgresError(.closed, "The client is closed")
        case .overloaded:
            return PostgresError(.poolOverloaded, "Too many tasks wait for a connection (\(facts))")
        case .nested:
            return PostgresError(
                .nestedAcquire,
                "A task that holds a connection asked for another one, and none was free (\(facts)); use the one it holds"
            )
        case .timedOut, .permanentFailure:
            let isUnreachable = connections.allSatisfy { $0.state == .connecting }
            if isUnreachable, let failure {
                let ownCodes: [PostgresError.Code] = [.passwordUnavailable, .tooManyOpenFiles]
                return PostgresError(
                    ownCodes.contains(failure.code) ? failure.code : .connectionFailed, failure.message,
                    sqlState: failure.sqlState, server: failure.server, underlying: failure.underlying)
            }
            let limit = isStatements ? "the time of the statement" : "\(options.acquireTimeout)"
            return PostgresError(
                isStatements ? .timeout : .poolTimeout, "No connection became free within \(limit) (\(facts))",
                underlying: failure.map { [$0.message] } ?? [])
        }
    }
}

extension PostgresError {
    /// The consequence of a connection's end for the other connections, by its reason.
    var endOfConnection: PoolStateMachine.End {
        guard code == .connectionLost else { return .own }
        return switch sqlState {
        // Only a session that could not be put back ends with a cancellation.
        case .idleSessionTimeout?, .idleInTransactionTimeout?, .queryCanceled?: .own
        case .crashShutdown?: .crash
        default: .loss
        }
    }
}
