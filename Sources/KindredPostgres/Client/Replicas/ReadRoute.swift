/// Where the reads of one context go: the one door between its requests and the servers.
package final class ReadRoute: Sendable {
    /// The servers; nil if the database has no replicas.
    private let servers: ReplicaSet?
    /// The greatest lag of a replica that may be read; nil for contexts that read the primary.
    private let maximumLag: Duration?
    /// How far the context has come.
    package let positions: PositionRecord

    /// - Parameters:
    ///   - servers: the servers; nil if the database has no replicas.
    ///   - maximumLag: the greatest lag of a replica that may be read; nil for contexts that read the primary.
    ///   - token: the position of an earlier request.
    ///   - delay: the time in which replicas show a write; nil where the server tells positions.
    package init(
        _ servers: ReplicaSet?, maximumLag: Duration?, after token: DatabasePosition? = nil, delay: Duration? = nil
    ) {
        self.servers = servers
        self.maximumLag = maximumLag
        positions = PositionRecord(after: token, coversReads: servers != nil && maximumLag != nil, delay: delay)
    }

    private init(_ route: ReadRoute, maximumLag: Duration?) {
        (servers, positions) = (route.servers, route.positions)
        self.maximumLag = maximumLag
    }

    /// The way of one read of the context, by a limit of its own.
    package func within(_ maximumLag: Duration?) -> ReadRoute { ReadRoute(self, maximumLag: maximumLag) }

    /// Whether replicas may answer.
    package var usesReplicas: Bool { positions.coversReads }

    /// Runs a query, as ``read(_:over:notOnReplica:)`` does several.
    package func read(
        _ statement: Statement, over primary: PostgresClient, notOnReplica reason: ReadMetrics.Reason?
    ) async throws -> QueryResult {
        guard let result = try await read([statement], over: primary, notOnReplica: reason).first else {
            throw PostgresError.noResult
        }
        return result
    }

    /// Runs queries in one round trip: on a replica, else on the primary.
    ///
    /// In the task's transaction or on its connection if it has one.
    ///
    /// - Parameters:
    ///   - primary: the context's client.
    ///   - reason: why it cannot be a replica; nil if it may.
    package func read(
        _ statements: [Statement], over primary: PostgresClient, notOnReplica reason: ReadMetrics.Reason?
    ) async throws -> [QueryResult] {
        let found = try await onReplica(over: primary, notOnReplica: reason) { client, guardian in
            try await client.executeGuarded(statements, by: guardian)
        }
        if let found { return found }
        defer { if positions.takeIgnored() { servers?.noteIgnoredPosition() } }
        return try await primary.executeBatch(statements)
    }

    /// The answer of a replica to a read behind a guard.
    enum GuardedAnswer<Result> {
        /// The guard has failed.
        case behind
        /// - Parameter replayed: the place that the replica had replayed then.
        case result(Result, replayed: UInt64?)
    }

    /// Runs a read on a replica; nil where it has to be on the primary, as in the task's transaction.
    func onReplica<Result>(
        over primary: PostgresClient, notOnReplica reason: ReadMetrics.Reason?,
        _ body: (PostgresClient, ReplicaGuard) async throws -> GuardedAnswer<Result>
    ) async throws -> Result? {
        guard let servers, let maximumLag, !primary.isInScope else { return nil }
        var found: ReadMetrics.Reason
        if let reason {
            found = reason
        } else {
            switch try await attempt(on: servers, maximumLag, over: primary, body) {
            case .result(let result): return result
            case .primary(let reason): found = reason
            }
        }
        servers.note(readOnPrimary: found)
        return nil
    }

    private enum Outcome<Result> {
        case result(Result)
        case primary(ReadMetrics.Reason)
    }

    /// Runs a read on a replica, within the time for which the context may wait for one.
    private func attempt<Result>(
        on servers: ReplicaSet, _ maximumLag: Duration, over primary: PostgresClient,
        _ body: (PostgresClient, ReplicaGuard) async throws -> GuardedAnswer<Result>
    ) async throws -> Outcome<Result> {
        let start = MonotonicTime.now
        while true {
            let need = positions.need
            let (server, seen): (ReplicaSet.Server, DatabasePosition?)
            switch servers.choose(maximumLag: maximumLag, need: need) {
            case .primary(let reason): return .primary(reason)
            case .replica(let chosen, let position): (server, seen) = (chosen, position)
            }
            let needed = if case .position(let position) = need { position.location } else { UInt64(0) }
            // Replayed meanwhile, perhaps; without time left it is not worth a round trip.
            if let seen, seen.location < needed, positions.budget <= .zero { return .primary(.behind) }
            do {
                let guardian = try ReplicaGuard(seen == nil ? nil : needed)
                let answer = try await body(server.client.with(primary.settings), guardian)
                if case .result(let result, let replayed) = answer {
                    if let seen {
                        positions.learn(
                            replayed: DatabasePosition(
                                system: seen.system, timeline: seen.timeline, location: replayed ?? needed))
                    }
                    servers.note(readOn: server)
                    return .result(result)
                }
            } catch let error as PostgresError where error.isOfReplica {
                if error.endsUseOfReplica { servers.leaveOut(server) }
                return .primary(.failed)
            }
            // Without positions the guard fails on a server that is no longer a replica.
            if seen == nil { return .primary(.noReplica) }
            let spent = MonotonicTime.now.since(start)
            guard spent + .milliseconds(2) < positions.budget else {
                positions.spend(spent)
                return .primary(.behind)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

extension PostgresError {
    /// Whether the primary may answer where a replica did not: whatever the server refused or cancelled, as a conflict with its
    /// replay, and every failure of a connection; not where the time is over or the result too large.
    var isOfReplica: Bool {
        switch code {
        case .server: sqlState != .queryCanceled
        case .connectionFailed, .tooManyOpenFiles, .passwordUnavailable, .connectionLost, .poolTimeout, .poolOverloaded,
            .closed, .nestedAcquire, .settingsRefused, .protocolViolation:
            true
        default: false
        }
    }

    /// Whether other reads would fail too.
    fileprivate var endsUseOfReplica: Bool {
        switch code {
        case .server: sqlState?.class == .operatorIntervention
        case .settingsRefused, .poolOverloaded, .poolTimeout: false
        default: true
        }
    }
}
