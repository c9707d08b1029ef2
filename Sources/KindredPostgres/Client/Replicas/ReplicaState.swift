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

    init(count: Int, delay: Duration? = nil) {
        self.delay = delay
        servers = Array(repeating: Server(), count: count)
    }

    /// Takes a server's sample.
    ///
    /// - Parameter askedAt: a time before the server was asked.
    /// - Returns: whether its role differs from before.
    mutating func note(_ sample: ServerSample, of server: Int, askedAt: MonotonicTime) -> Bool {
        let former = servers[server].sample
        let sample = sample.after(servers[server].former)
        servers[server] = Server(
            sample: sample, seenAt: askedAt, former: sample, toldTimeline: servers[server].toldTimeline)
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
