import Logging

extension Connector {
    /// Opens a connection to the primary among servers that were never seen before: all are asked at once.
    static func searchPrimary(
        of configuration: PostgresConfiguration, _ requirements: StartupRequirements,
        parameters: [(keyword: String, value: String)], within attempt: ConnectionAttempt, logger: Logger?,
        notices: @escaping @Sendable () -> NoticeSink
    ) throws(PostgresError) {
        let others = withoutHosts(parameters)
        try PrimarySearch.begin(configuration, requirements.primary, logger: logger) {
            server, search throws(PostgresError) in
            let turn = ConnectionTurn(
                attempt: attempt, address: server.description, deadline: attempt.deadline,
                isOvertaken: { search.isOver })
            return try open(
                configuration, requirements,
                parameters: others + PostgresConfiguration.hostParameters(server.endpoints), turn: turn,
                notices: notices())
        } finish: {
            attempt.finish($0)
        }
    }

    private static func withoutHosts(
        _ parameters: [(keyword: String, value: String)]
    ) -> [(keyword: String, value: String)] {
        parameters.filter { !["host", "hostaddr", "port"].contains($0.keyword) }
    }

    /// Opens a connection to the first of several servers that may be written to.
    ///
    /// libpq's own walk over a list would take a former primary that has not noticed its end, and waits without limit for a
    /// server that is silent: here each has a share of the time.
    static func openPrimary(
        of configuration: PostgresConfiguration, _ requirements: StartupRequirements,
        parameters: [(keyword: String, value: String)], within attempt: ConnectionAttempt, notices: NoticeSink
    ) throws(PostgresError) -> Opened {
        let others = withoutHosts(parameters)
        let record = requirements.primary
        var failures: [PostgresError] = []
        let first = record.last
        for (place, server) in record.order(configuration.servers) {
            let now = MonotonicTime.now
            guard now < attempt.deadline, !attempt.isOver else { throw attempt.timedOut }
            let share = attempt.deadline.since(now) / (configuration.endpoints.count - failures.count)
            // The samples of replicas, or another attempt, may find the primary while a server is silent.
            let turn = ConnectionTurn(
                attempt: attempt, address: server.description, deadline: now + share,
                isOvertaken: { ![first, place].contains(record.last) })
            do throws(PostgresError) {
                let opened = try open(
                    configuration, requirements,
                    parameters: others + PostgresConfiguration.hostParameters(server.endpoints), turn: turn,
                    notices: notices)
                if let reason = opened.primary.flatMap({ record.admit($0) }) {
                    opened.handle.finish()
                    throw PostgresError(.connectionFailed, "\(turn.address) is not written to: \(reason)")
                }
                record.note(place: place)
                return opened
            } catch {
                // As libpq does: a server that refuses the role or the database ends the walk.
                if error.isPermanent || error.code == .tooManyOpenFiles { throw error }
                failures.append(error)
            }
        }
        throw PostgresError(summary: failures)
    }
}

extension PostgresError {
    /// The error when no server could be used: the error of the first server that gave a code, else the last server's.
    init(summary failures: [PostgresError]) {
        let told = failures.first { $0.sqlState != nil } ?? failures.last
        self.init(
            .connectionFailed, told?.message ?? "No server is given", sqlState: told?.sqlState, server: told?.server,
            underlying: failures.flatMap { $0.underlying.isEmpty ? [$0.message] : $0.underlying })
    }
}
