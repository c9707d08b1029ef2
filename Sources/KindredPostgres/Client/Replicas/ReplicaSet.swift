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
    private let question: RankedMutex<Statement>
    private let tellsPositions: Bool
    private let state: RankedMutex<ReplicaState>
    /// The primary, as the connections for writing know it.
    private let primary: PrimaryRecord
    private let counters = RankedMutex(ReadMetrics(), .leaf)
    private let pace = RankedMutex(ReadPace(), .leaf)
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
        tellsPositions = delay == nil
        question = RankedMutex(
            delay == nil ? try ServerSample.question(trusting: nil) : ServerSample.roleQuestion, .leaf)
        let weights = configurations.map(\.replicaWeight)
        state = RankedMutex(ReplicaState(count: servers.count, delay: delay, weights: weights), .leaf)
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

    /// Has replicas count for the timeline that the primary marks in an installation of change tracking, if it belongs to a role.
    ///
    /// Throws `PostgresError` for a name that no role can have.
    package func trustMarks(of owner: String) throws {
        guard tellsPositions else { return }
        let statement = try ServerSample.question(trusting: owner)
        question.withLock { $0 = statement }
    }

    /// Waits until the servers' connections are closed, after the database's client.
    package func close() async { await task.withLock { $0 }?.value }

    // MARK: Samples

    private func sample(_ server: Server) async {
        let askedAt = MonotonicTime.now
        state.withLock { $0.noteQuestion(to: server.number, at: askedAt) }
        let answer: QueryResult
        do {
            answer = try await server.sampler.executeUnobserved(
                question.withLock { $0 }, timeout: Self.patience)
        } catch {
            if !Task.isCancelled { noteFailure(of: server, "\(error)") }
            return
        }
        guard !Task.isCancelled else { return }
        guard let sample = ServerSample(answer: answer) else {
            return noteFailure(of: server, "It does not say its role and its place in the log")
        }
        let answeredAt = MonotonicTime.now
        let (isNew, isHidden) = change { state in
            (
                state.note(sample, of: server.number, askedAt: askedAt, answeredAt: answeredAt),
                state.tellsHiddenTimeline(of: server.number)
            )
        }
        if isHidden {
            logger?.notice(
                """
                a replica is not read until its next restartpoint, as the role may not see that it follows the new primary: \
                GRANT pg_read_all_stats TO \(server.client.configuration.user ?? "the role"), or let a program read changes
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
        case replica(ReplicaAsk)
        case primary(ReadMetrics.Reason)
    }

    /// Chooses a replica that lags by no more than a limit; the read counts as in flight there until `end`.
    ///
    /// - Parameters:
    ///   - text: the text of a read that may be asked again.
    ///   - other: the server that was asked already.
    func choose(
        maximumLag: Duration, need: PositionRecord.Need, text: StatementText? = nil, besides other: Server? = nil
    ) -> Choice {
        let position: DatabasePosition?
        switch need {
        case .unknown: return .primary(.unknownPosition)
        case .recent: return .primary(.recentWrite)
        case .none: position = nil
        case .position(let needed): position = needed
        }
        let now = MonotonicTime.now
        let choice = state.withLock {
            $0.choose(maximumLag: maximumLag, after: position, besides: other?.number, at: now)
        }
        switch choice {
        case .primary(let reason): return .primary(reason)
        case .replica(let number, let seen):
            let known = text.map { text in
                pace.withLock { pace in
                    let place = pace.times.place(of: text)
                    return ReplicaAsk.Known(text: text, place: place, percentile: pace.times.percentile(at: place))
                }
            }
            return .replica(
                ReplicaAsk(
                    server: servers[number], seen: seen, needed: position?.location ?? 0, startedAt: now, known: known))
        }
    }

    /// Notes the end of a read, with an answer or without one.
    ///
    /// - Parameter isAnswered: whether its own answer has come.
    func end(_ ask: ReplicaAsk, isAnswered: Bool) {
        state.withLock { $0.end(on: ask.server.number) }
        guard isAnswered else { return }
        let now = MonotonicTime.now
        pace.withLock { pace in
            pace.budget.noteRead(at: now)
            guard let known = ask.known else { return }
            pace.times.note(now.since(ask.startedAt), of: known.text, at: known.place)
        }
    }

    /// Whether a read whose answer is overdue may be asked again; it counts then.
    func takesOverdue(_ ask: ReplicaAsk) -> Bool {
        let now = MonotonicTime.now
        state.withLock { $0.noteOverdue(on: ask.server.number, by: now.since(ask.startedAt)) }
        guard pace.withLock({ $0.budget.take(at: now) }) else { return false }
        counters.withLock { $0.secondRequests += 1 }
        logger?.debug("a read is asked again elsewhere", metadata: ["server": "\(ask.server.name)"])
        return true
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

    /// Counts a read whose second answer came first.
    func noteSecondAnswer() { counters.withLock { $0.secondAnswers += 1 } }

    func noteIgnoredPosition() {
        counters.withLock { $0.ignoredPositions += 1 }
        logger?.notice("a position is ignored that the primary has not reached")
    }
}

/// How long reads take, and how many of them may be asked again.
private struct ReadPace: Sendable {
    var times = AnswerTimes()
    var budget = RepetitionBudget()
}

/// A read that a replica is asked for.
struct ReplicaAsk: Sendable {
    /// The times of earlier answers, for a read that may be asked again.
    struct Known: Sendable {
        let text: StatementText
        let place: AnswerTimes.Place
        /// The time within which 99 of a hundred answers came; nil where too few are known.
        let percentile: Duration?
    }

    let server: ReplicaSet.Server
    /// The place that it had replayed when it was seen last; nil where none is told.
    let seen: DatabasePosition?
    /// The place that it has to have replayed.
    let needed: UInt64
    let startedAt: MonotonicTime
    let known: Known?

    /// When it is asked again: after three times the percentile, and at least 20 ms.
    var overdueAt: MonotonicTime {
        known?.percentile.map { startedAt + max(.milliseconds(20), $0 * 3) } ?? .never
    }

    /// The guard of the read.
    var guardian: ReplicaGuard { get throws { try ReplicaGuard(seen == nil ? nil : needed) } }

    /// The position that its answer shows.
    ///
    /// - Parameter replayed: the place that the replica has told behind the read.
    func position(_ replayed: UInt64?) -> DatabasePosition? {
        seen.map { DatabasePosition(system: $0.system, timeline: $0.timeline, location: replayed ?? needed) }
    }
}

/// A reference that does not keep the set.
private struct WeakSet: Sendable {
    weak var set: ReplicaSet?
}
