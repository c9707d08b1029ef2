import Logging
import Synchronization

/// The servers of a database: asks each for its role and its place in the log, and chooses the replica for a read.
///
/// A replica is used only while its last sample is good, so that no read waits for a failing server. The samples come
/// over connections of their own, as a busy pool would delay them.
package final class ReplicaSet: Sendable {
    /// One of the servers.
    struct Server {
        let number: Int
        /// Its place in the list of servers that may be written to; nil if it is not in the list.
        let place: Int?
        /// For reads.
        let client: PostgresClient
        /// For samples.
        let sampler: PostgresClient

        /// The address, for the log.
        var name: String { "\(client.configuration)" }
    }

    private static let interval = Duration.milliseconds(100)
    /// The time that a server has for a sample.
    private static let patience = Duration.seconds(1)

    private let servers: [Server]
    private let question: Statement
    private let state: RankedMutex<ReplicaState>
    /// The primary, as the connections for writing know it.
    private let primary: PrimaryRecord
    private let counters = RankedMutex(ReadMetrics(), .leaf)
    /// The number of the next replica, so that all get their share.
    private let turn = Atomic<UInt64>(0)
    private let task = RankedMutex<Task<Void, Never>?>(nil, .leaf)
    let logger: Logger?

    /// Connects with the first samples, and fails for no server that does not answer.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    ///
    /// - Parameters:
    ///   - configurations: each server's; their roles are asked for.
    ///   - primary: the client whose types the servers have and whose observers see their statements.
    package init(_ configurations: [PostgresConfiguration], of primary: PostgresClient) throws {
        servers = try configurations.enumerated().map { number, configuration in
            Server(
                number: number,
                place: configuration.endpoints.first.flatMap { primary.configuration.endpoints.firstIndex(of: $0) },
                client: try primary.reader(configuration.forReads),
                sampler: try PostgresClient(configuration.forSamples, nil))
        }
        logger = primary.logger
        self.primary = primary.pool.context.primary
        self.primary.noteSamples()
        let delay = primary.configuration.replicaDelay
        question = delay == nil ? ServerSample.question : ServerSample.roleQuestion
        state = RankedMutex(ReplicaState(count: servers.count, delay: delay), .leaf)
        start(until: primary.closing, after: primary.pool.context.readOnlyRefusals.stream)
    }

    deinit { task.withLock { $0?.cancel() } }

    /// Takes samples until the database's client is closed or the set is released.
    ///
    /// - Parameter refusals: refused writes, which tell that a role may have changed; the next samples alone change it.
    private func start(until closing: AsyncLatch, after refusals: AsyncStream<Void>) {
        let (servers, set) = (servers, WeakSet(set: self))
        // Detached: samples belong to no task of the program.
        let task = Task.detached {
            await withDiscardingTaskGroup { group in
                for server in servers {
                    group.addTask {
                        while !Task.isCancelled {
                            await set.set?.sample(server)
                            try? await Task.sleep(for: Self.interval)
                        }
                    }
                }
                group.addTask {
                    for await _ in refusals {
                        for server in servers { await set.set?.sample(server) }
                    }
                }
                try? await closing.wait()
                group.cancelAll()
            }
            for server in servers {
                await server.sampler.close(timeout: .zero)
                await server.client.close()
            }
        }
        self.task.withLock { $0 = task }
    }

    /// Waits until the servers' connections are closed, after the database's client.
    package func close() async { await task.withLock { $0 }?.value }

    // MARK: Samples

    private func sample(_ server: Server) async {
        let askedAt = MonotonicTime.now
        let answer: QueryResult
        do {
            answer = try await server.sampler.executeUnobserved(question, timeout: Self.patience)
        } catch {
            if !Task.isCancelled { noteFailure(of: server, "\(error)") }
            return
        }
        guard !Task.isCancelled else { return }
        guard let sample = ServerSample(answer: answer) else {
            return noteFailure(of: server, "It does not say its role and its place in the log")
        }
        let (isNew, isHidden) = change { state in
            (state.note(sample, of: server.number, askedAt: askedAt), state.tellsHiddenTimeline(of: server.number))
        }
        if isHidden {
            logger?.notice(
                """
                a replica is not read until its next restartpoint, as the role may not see that it follows the new primary: \
                GRANT pg_read_all_stats TO \(server.client.configuration.user ?? "the role")
                """, metadata: ["server": "\(server.name)"])
        }
        // The client's first look decides the cluster of the servers.
        if !sample.isReplica, primary.wasFound, primary.refusal == nil {
            let sighting = sample.position.map {
                PrimaryRecord.Sighting(system: $0.system, timeline: $0.timeline, startedAt: sample.startedAt)
            }
            let refusal = sighting.flatMap { primary.admit($0) }
            if refusal == nil, let place = server.place { primary.note(place: place) }
        }
        if isNew {
            let role = sample.isReplica ? "replica" : sample.isReadOnly ? "primary that takes no writes" : "primary"
            logger?.info("a server's role is known", metadata: ["server": "\(server.name)", "role": "\(role)"])
        }
    }

    private func noteFailure(of server: Server, _ reason: String) {
        let failures = change { $0.noteFailure(of: server.number) }
        if failures == 1 {
            logger?.warning(
                "a server is left out of reads", metadata: ["server": "\(server.name)", "reason": "\(reason)"])
        }
        // Its pending questions are sent to another server, even if the network swallows them.
        if failures == 2 { server.client.abandonConnections() }
    }

    /// Changes the state, and has the connections for writing know in the same order whether there are two primaries.
    private func change<T: Sendable>(_ body: (inout ReplicaState) -> T) -> T {
        let (result, hasTwoPrimaries, isNews) = state.withLock { state in
            let result = body(&state)
            let hasTwoPrimaries = state.hasTwoPrimaries
            // One of two that the client's first look has found may not be sampled yet.
            let isTold = hasTwoPrimaries || state.isComplete
            return (result, hasTwoPrimaries, isTold && primary.note(hasRival: hasTwoPrimaries))
        }
        if isNews, hasTwoPrimaries {
            logger?.critical("two servers take writes on the same timeline; nothing is written to either")
        } else if isNews {
            logger?.notice("one server takes writes again")
        }
        return result
    }

    // MARK: Choosing

    /// A choice for a read.
    enum Choice {
        /// - Parameter at: the place that it had replayed when it was seen last; nil where none is told.
        case replica(Server, at: DatabasePosition?)
        case primary(ReadMetrics.Reason)
    }

    /// Chooses a replica that lags by no more than a limit: in turn, but a replica that has replayed the position
    /// first.
    func choose(maximumLag: Duration, need: PositionRecord.Need) -> Choice {
        switch need {
        case .unknown: return .primary(.unknownPosition)
        case .recent: return .primary(.recentWrite)
        case .none, .position: break
        }
        let now = MonotonicTime.now
        let usable = state.withLock { $0.replicas(maximumLag: maximumLag, at: now) }
        guard let first = usable.first else { return .primary(.noReplica) }
        var needed: UInt64 = 0
        if case .position(let position) = need {
            guard let seen = first.position, position.isComparable(with: seen) else { return .primary(.otherTimeline) }
            needed = position.location
        }
        let ready = usable.filter { ($0.position?.location ?? 0) >= needed }
        let candidates = ready.isEmpty ? usable : ready
        let place = turn.add(1, ordering: .relaxed).oldValue % UInt64(candidates.count)
        let chosen = candidates[Int(place)]
        return .replica(servers[chosen.server], at: chosen.position)
    }

    /// Leaves a server out until its next good sample.
    func leaveOut(_ server: Server) { state.withLock { $0.leaveOut(server.number) } }

    // MARK: Metrics

    /// Where reads went.
    package var metrics: ReadMetrics {
        var metrics = counters.withLock { $0 }
        let now = MonotonicTime.now
        let others = state.withLock { state in
            let others = servers.filter { !state.isPrimary($0.number) }
            // Until the servers have said their roles, one of them is the primary.
            return others.count == servers.count ? [] : others.map { ($0.name, state.lag(of: $0.number, at: now)) }
        }
        metrics.replicas = others.map { ReadMetrics.Replica(address: $0, lag: $1) }
        return metrics
    }

    /// Counts and logs where a read went.
    func note(readOn server: Server) {
        counters.withLock { $0.replica += 1 }
        logger?.debug("a read went to a replica", metadata: ["server": "\(server.name)"])
    }

    func note(readOnPrimary reason: ReadMetrics.Reason) {
        counters.withLock { $0.count(reason) }
        logger?.debug("a read went to the primary", metadata: ["reason": "\(reason.rawValue)"])
    }

    func noteIgnoredPosition() {
        counters.withLock { $0.ignoredPositions += 1 }
        logger?.notice("a position is ignored that the primary has not reached")
    }
}

/// A reference that does not keep the set.
private struct WeakSet: Sendable {
    weak var set: ReplicaSet?
}
