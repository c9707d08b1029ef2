import DequeModule

/// The servers of a database as they were seen last; decides which of them may answer a read.
struct ReplicaState: Sendable {
    private struct Server {
        var sample: ServerSample?
        var seenAt = MonotonicTime.never
        /// The number of samples that failed since the last good one.
        var failures = 0
        /// The sample before, also where a failure has left it out.
        var former: ServerSample?
        /// The timeline for which it was said that the server does not show its own.
        var toldTimeline: UInt32 = 0
        var load = ReplicaLoad()
    }

    /// A place of the primary, and a time at which it had not written beyond it.
    private struct Mark {
        let time: MonotonicTime
        let location: UInt64
    }

    /// A sample older than this is no longer valid.
    static let patience = Duration.seconds(1)
    /// Some minutes of samples: a greater lag cannot be told.
    private static let maximumMarks = 3_000

    private var servers: [Server]
    /// The newest place of the primary, in the log that counts.
    private var primary: DatabasePosition?
    private var primarySeenAt: MonotonicTime?
    private var marks: Deque<Mark> = []

    /// The lag of each replica, where no places are told.
    private let delay: Duration?

    /// The number from which the next draw is made.
    private var draws: UInt64 = 0

    /// - Parameter weights: each server's share of the reads; 1 where none is given.
    init(count: Int, delay: Duration? = nil, weights: [Int] = []) {
        self.delay = delay
        servers = Array(repeating: Server(), count: count)
        for (server, weight) in weights.enumerated() { servers[server].load.weight = weight }
    }

    /// Notes that a server is asked for a sample.
    mutating func noteQuestion(to server: Int, at now: MonotonicTime) { servers[server].load.askedAt = now }

    /// Takes a server's sample.
    ///
    /// - Parameters:
    ///   - askedAt: a time before the server was asked.
    ///   - now: the time of the answer; nil takes nothing from it.
    /// - Returns: whether its role differs from before.
    mutating func note(
        _ sample: ServerSample, of server: Int, askedAt: MonotonicTime, answeredAt now: MonotonicTime? = nil
    ) -> Bool {
        let former = servers[server].sample
        let sample = sample.after(servers[server].former)
        servers[server] = Server(
            sample: sample, seenAt: askedAt, former: sample, toldTimeline: servers[server].toldTimeline,
            load: servers[server].load)
        if let now { servers[server].load.noteAnswer(after: now.since(askedAt)) }
        if !sample.isReplica {
            if let position = sample.position { notePrimary(position, askedAt) } else { primarySeenAt = askedAt }
        }
        return former?.isReplica != sample.isReplica || former?.isReadOnly != sample.isReadOnly
    }

    /// The primary is the server of the highest timeline; other writable servers are former primaries.
    private mutating func notePrimary(_ position: DatabasePosition, _ askedAt: MonotonicTime) {
        if let primary {
            guard position.system == primary.system, position.timeline >= primary.timeline else { return }
            if position.timeline > primary.timeline { marks = [] }
        }
        primary = position
        primarySeenAt = askedAt
        // An idle primary has one mark.
        if marks.last?.location == position.location { marks.removeLast() }
        marks.append(Mark(time: askedAt, location: position.location))
        if marks.count > Self.maximumMarks { marks.removeFirst() }
    }

    /// Whether two servers take writes in the log that counts, as when two replicas were promoted at once.
    var hasTwoPrimaries: Bool {
        guard let primary else { return false }
        let samples = servers.compactMap(\.sample).filter {
            !$0.isReplica && $0.position?.isComparable(with: primary) == true
        }
        return Set(samples.map(\.startedAt)).count > 1
    }

    /// Whether a replica may follow the primary's timeline and does not show it to the role; true once for each timeline.
    mutating func tellsHiddenTimeline(of server: Int) -> Bool {
        guard let sample = servers[server].sample, sample.hidesTimeline, let own = sample.position, let primary,
            own.system == primary.system, own.timeline < primary.timeline,
            servers[server].toldTimeline < primary.timeline
        else { return false }
        servers[server].toldTimeline = primary.timeline
        return true
    }

    /// Whether each server has answered or failed once.
    var isComplete: Bool { servers.allSatisfy { $0.seenAt != .never || $0.failures > 0 } }

    /// Leaves a server out until its next good sample.
    mutating func leaveOut(_ server: Int) { servers[server].sample = nil }

    /// Leaves a server out whose sample has failed.
    ///
    /// - Returns: the number of failures in a row.
    mutating func noteFailure(of server: Int) -> Int {
        leaveOut(server)
        servers[server].failures += 1
        return servers[server].failures
    }

    private func isPrimarySeen(at now: MonotonicTime) -> Bool {
        primarySeenAt.map { $0 + Self.patience >= now } ?? false
    }

    /// The newest place of the primary; nil while it is silent, or tells none.
    func primary(at now: MonotonicTime) -> DatabasePosition? { isPrimarySeen(at: now) ? primary : nil }

    /// The age of the newest place of the primary that a replica has replayed; nil if it is not known, as while the primary is
    /// silent.
    func lag(of server: Int, at now: MonotonicTime) -> Duration? {
        guard isPrimarySeen(at: now), let sample = servers[server].sample, sample.isReplica,
            servers[server].seenAt + Self.patience >= now
        else { return nil }
        guard let position = sample.position else { return delay }
        guard let primary, position.isComparable(with: primary),
            let mark = marks.last(where: { $0.location <= position.location })
        else { return nil }
        return now.since(mark.time)
    }

    /// Whether a server was no replica when it was seen last.
    func isPrimary(_ server: Int) -> Bool { servers[server].sample?.isReplica == false }

    /// The replicas that lag by no more than a limit, with the places that they had replayed when they were seen last.
    func replicas(maximumLag: Duration, at now: MonotonicTime) -> [(server: Int, position: DatabasePosition?)] {
        servers.indices.compactMap { server in
            guard let sample = servers[server].sample, let lag = lag(of: server, at: now), lag <= maximumLag else {
                return nil
            }
            return (server, sample.position)
        }
    }
}

// Which of the replicas answers a read.
extension ReplicaState {
    /// A choice for a read.
    enum Choice: Equatable {
        /// - Parameter at: the place that it had replayed when it was seen last; nil where none is told.
        case replica(Int, at: DatabasePosition?)
        case primary(ReadMetrics.Reason)
    }

    /// Chooses a replica that lags by no more than a limit, and counts the read as in flight there until `end(on:)`.
    ///
    /// Replicas that have replayed the position come first. Each has a wait: its time to answer, for the read itself and for its
    /// share of the reads in flight. A replica whose wait is at most twice the least is drawn, by weight.
    ///
    /// - Parameters:
    ///   - position: the position that has to be replayed; nil for none.
    ///   - other: a server that was asked already; then only a replica is chosen that has replayed the position.
    mutating func choose(
        maximumLag: Duration, after position: DatabasePosition? = nil, besides other: Int? = nil, at now: MonotonicTime
    ) -> Choice {
        let usable = replicas(maximumLag: maximumLag, at: now)
        guard let first = usable.first else { return .primary(.noReplica) }
        if let position {
            guard let seen = first.position, position.isComparable(with: seen) else { return .primary(.otherTimeline) }
        }
        let needed = position?.location ?? 0
        func isReady(_ replica: (server: Int, position: DatabasePosition?)) -> Bool {
            replica.server != other && (replica.position?.location ?? 0) >= needed
        }
        let hasReady = usable.contains(where: isReady)
        if other != nil, !hasReady { return .primary(.noReplica) }
        func isCandidate(_ replica: (server: Int, position: DatabasePosition?)) -> Bool {
            !hasReady || isReady(replica)
        }
        var least = Double.infinity
        for replica in usable where isCandidate(replica) {
            least = min(least, servers[replica.server].load.wait(at: now))
        }
        func isGood(_ replica: (server: Int, position: DatabasePosition?)) -> Bool {
            isCandidate(replica) && servers[replica.server].load.wait(at: now) <= 2 * least
        }
        let weight = usable.reduce(0) { isGood($1) ? $0 + servers[$1.server].load.weight : $0 }
        // Multiples of the golden ratio: each replica has its share of any few draws.
        draws &+= 0x9E37_79B9_7F4A_7C15
        var rest = Int(draws.multipliedFullWidth(by: UInt64(weight)).high)
        for replica in usable where isGood(replica) {
            rest -= servers[replica.server].load.weight
            guard rest < 0 else { continue }
            servers[replica.server].load.inFlight += 1
            return .replica(replica.server, at: replica.position)
        }
        return .primary(.noReplica)
    }

    /// Notes the end of a read.
    mutating func end(on server: Int) { servers[server].load.inFlight -= 1 }

    /// Notes that a server has not answered a read for long: until its next sample it counts as so slow.
    mutating func noteOverdue(on server: Int, by time: Duration) { servers[server].load.noteOverdue(time) }
}

/// The use of a server by reads.
struct ReplicaLoad: Sendable {
    /// Its share of the reads, in relation to others.
    var weight = 1
    /// The reads that were sent and not answered.
    var inFlight = 0
    /// When it was asked for the sample that it has not answered yet.
    var askedAt: MonotonicTime?
    /// The time that it takes to answer a sample.
    private var time = Duration.zero

    /// Takes the time of a sample: a shorter one counts at once, of a longer one a quarter of the difference.
    ///
    /// So one sample that was late in a busy program says little.
    mutating func noteAnswer(after new: Duration) {
        askedAt = nil
        time = time == .zero || new < time ? new : time + (new - time) / 4
    }

    mutating func noteOverdue(_ other: Duration) { time = max(time, other) }

    /// The time that a further read waits, as far as that is known: a sample that is not answered takes as long as it has taken.
    func wait(at now: MonotonicTime) -> Double {
        let time = max(time.nanoseconds, askedAt.map { now.since($0).nanoseconds } ?? 0, 1)
        return Double(time) * (1 + Double(inFlight) / Double(weight))
    }
}
