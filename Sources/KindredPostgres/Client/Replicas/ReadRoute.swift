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
        let isSingle = servers != nil && statements.count == 1 && statements[0].mayBeAskedAgain
        let single = isSingle ? statements[0] : nil
        let found = try await onReplica(over: primary, notOnReplica: reason, asking: single) {
            client, guardian, overdue in
            try await client.executeGuarded(statements, by: guardian, overdue)
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
        /// Another server has answered first.
        ///
        /// - Parameter by: the replica; nil for the primary.
        case second(Result, by: ReplicaAsk?, replayed: UInt64?)
    }

    /// Runs a read on a replica; nil where it has to be on the primary, as in the task's transaction.
    ///
    /// - Parameters:
    ///   - primary: the context's client.
    ///   - reason: why it cannot be a replica; nil if it may.
    ///   - single: the statement of a read that may be asked again; nil for other reads.
    func onReplica<Result>(
        over primary: PostgresClient, notOnReplica reason: ReadMetrics.Reason?, asking single: Statement? = nil,
        _ body: (PostgresClient, ReplicaGuard, OverdueRead?) async throws -> GuardedAnswer<Result>
    ) async throws -> Result? {
        guard let servers, let maximumLag, !primary.isInScope else { return nil }
        var found: ReadMetrics.Reason
        if let reason {
            found = reason
        } else {
            switch try await attempt(on: servers, maximumLag, over: primary, asking: single, body) {
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
        on servers: ReplicaSet, _ maximumLag: Duration, over primary: PostgresClient, asking single: Statement?,
        _ body: (PostgresClient, ReplicaGuard, OverdueRead?) async throws -> GuardedAnswer<Result>
    ) async throws -> Outcome<Result> {
        let start = MonotonicTime.now
        while true {
            let ask: ReplicaAsk
            switch servers.choose(maximumLag: maximumLag, need: positions.need, text: single?.text) {
            case .primary(let reason): return .primary(reason)
            case .replica(let chosen): ask = chosen
            }
            var isAnswered = false
            let overdue = single.flatMap {
                OverdueRead($0, ask, by: self, among: servers, within: maximumLag, over: primary)
            }
            do {
                defer {
                    overdue?.end()
                    servers.end(ask, isAnswered: isAnswered)
                }
                // Replayed meanwhile, perhaps; without time left it is not worth a round trip.
                if let seen = ask.seen, seen.location < ask.needed, positions.budget <= .zero {
                    return .primary(.behind)
                }
                let answer = try await body(ask.server.client.with(primary.settings), try ask.guardian, overdue)
                switch answer {
                case .behind: break
                case .result(let result, let replayed):
                    isAnswered = true
                    if let position = ask.position(replayed) { positions.learn(replayed: position) }
                    servers.note(readOn: ask.server)
                    return .result(result)
                case .second(let result, let other, let replayed):
                    servers.noteSecondAnswer()
                    if let other {
                        if let position = other.position(replayed) { positions.learn(replayed: position) }
                        servers.note(readOn: other.server)
                    } else {
                        if positions.takeIgnored() { servers.noteIgnoredPosition() }
                        servers.note(readOnPrimary: .overdue)
                    }
                    return .result(result)
                }
            } catch let error as PostgresError where error.isOfReplica {
                if error.endsUseOfReplica { servers.leaveOut(ask.server) }
                // Both have failed, and the primary was one of them.
                if overdue?.hasPrimaryFailed == true {
                    try Task.checkCancellation()
                    throw error
                }
                return .primary(.failed)
            }
            // Without positions the guard fails on a server that is no longer a replica.
            if ask.seen == nil { return .primary(.noReplica) }
            let spent = MonotonicTime.now.since(start)
            guard spent + .milliseconds(2) < positions.budget else {
                positions.spend(spent)
                return .primary(.behind)
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

extension Statement {
    /// Whether a read of it, alone, may be asked again elsewhere: a query of the library's, that is sent again and again.
    fileprivate var mayBeAskedAgain: Bool {
        !text.mayChangeSession && !text.isOneTime && text.effect == .plain && resultFormat != nil
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
    var endsUseOfReplica: Bool {
        switch code {
        case .server: sqlState?.class == .operatorIntervention
        case .settingsRefused, .poolOverloaded, .poolTimeout: false
        default: true
        }
    }
}
