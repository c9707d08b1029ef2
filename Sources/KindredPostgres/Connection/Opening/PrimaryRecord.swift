import Synchronization

/// The primary of several servers, as the connections of a client know it together.
///
/// A promoted standby begins a new timeline: once one is known, nothing is written to a server of a lower one, as that is a
/// former primary which has not noticed it.
final class PrimaryRecord: Sendable {
    /// A server that takes writes.
    struct Sighting: Sendable, Equatable {
        /// The identifier of its cluster, which replicas share.
        let system: UInt64
        let timeline: UInt32
        /// The time when it was started, by its own clock: two addresses may be one server's.
        let startedAt: String

        /// Whether another server takes writes on the same timeline.
        func isRival(of other: Sighting) -> Bool {
            (system, timeline) == (other.system, other.timeline) && startedAt != other.startedAt
        }
    }

    /// Asks a server that takes writes; a server without positions does not answer, and is taken as it is.
    static var question: Connector.Question {
        Connector.Question(
            """
            SELECT s.system_identifier::pg_catalog.text, CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL ELSE \
            pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 1, 8) END, \
            pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::pg_catalog.text \
            FROM pg_catalog.pg_control_system() AS s
            """)
    }

    private let system = Atomic<UInt64>(0)
    private let timeline = Atomic<UInt32>(0)
    private let hasRival = Atomic(false)
    private let hasSamples = Atomic(false)
    private let isFound = Atomic(false)
    private let place = Atomic(0)
    private let moveCount = Atomic(0)
    private let observers = RankedMutex<[@Sendable () -> Void]>([], .leaf)
    private let searcher = RankedMutex<(@Sendable () -> Void)?>(nil, .leaf)

    /// How often the address has led to another server than before.
    var moves: Int { moveCount.load(ordering: .acquiring) }

    /// Notes that the address leads to a server that takes writes, after another server has taken none.
    func noteMove() {
        moveCount.add(1, ordering: .acquiringAndReleasing)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Calls a function when the server of a connection that listens reports that it takes no writes any more.
    func onReadOnly(_ searcher: @escaping @Sendable () -> Void) { self.searcher.withLock { $0 = searcher } }

    /// Notes that a server that took writes takes none.
    func noteReadOnly() { searcher.withLock { $0 }?() }

    /// Calls a function each time that a higher timeline becomes known, or that the address has moved.
    func onChange(_ observer: @escaping @Sendable () -> Void) { observers.withLock { $0.append(observer) } }

    /// Takes a server that takes writes into account.
    ///
    /// - Returns: why nothing may be written to it; nil if it may.
    func admit(_ sighting: Sighting) -> String? {
        let first = system.compareExchange(expected: 0, desired: sighting.system, ordering: .relaxed).original
        guard first == 0 || first == sighting.system else {
            return "it is of another cluster than the server before it"
        }
        let known = timeline.max(sighting.timeline, ordering: .relaxed).oldValue
        if known > sighting.timeline {
            return
                "it is on timeline \(sighting.timeline), and timeline \(known) was seen: another server has taken its place"
        }
        if known < sighting.timeline, known > 0 {
            for observer in observers.withLock({ $0 }) { observer() }
        }
        return nil
    }

    /// Whether a connection leads to a server that another server has replaced; false where its timeline is not known.
    func isOutdated(_ sighting: Sighting?) -> Bool {
        sighting.map { $0.timeline < timeline.load(ordering: .relaxed) } ?? false
    }

    /// Notes whether two servers take writes on the highest timeline.
    ///
    /// - Returns: whether that was not so before.
    func note(hasRival: Bool) -> Bool { self.hasRival.exchange(hasRival, ordering: .relaxed) != hasRival }

    /// Why nothing may be written to any server; nil if it may.
    var refusal: PostgresError? { hasRival.load(ordering: .relaxed) ? Self.twoPrimaries : nil }

    private static var twoPrimaries: PostgresError {
        PostgresError(
            .twoPrimaries,
            "Two servers of the cluster take writes on the same timeline; nothing is written until one of them is stopped"
        )
    }

    /// Notes that samples of the servers are taken, which say when there are two primaries, and when no longer.
    func noteSamples() { hasSamples.store(true, ordering: .relaxed) }

    /// Notes that the first look at the servers has found two that take writes.
    ///
    /// Throws where no samples are taken that would notice when one of them stops: then only the next look notices it.
    func noteRival() throws(PostgresError) {
        guard hasSamples.load(ordering: .relaxed) else { throw Self.twoPrimaries }
        hasRival.store(true, ordering: .relaxed)
    }

    /// Whether all servers were asked, and one of them was found to be the primary.
    var wasFound: Bool { isFound.load(ordering: .acquiring) }

    func noteFound() { isFound.store(true, ordering: .releasing) }

    /// The number of the server that was the primary when it was asked last.
    var last: Int { place.load(ordering: .relaxed) }

    /// Servers in the order in which they are tried: the last known primary comes first.
    func order<Server>(_ servers: [Server]) -> [(place: Int, server: Server)] {
        let last = last
        let numbered = servers.enumerated().map { (place: $0.offset, server: $0.element) }
        return numbered.filter { $0.place == last } + numbered.filter { $0.place != last }
    }

    /// Notes the server that is the primary.
    func note(place: Int) { self.place.store(place, ordering: .relaxed) }
}

extension PrimaryRecord.Sighting {
    /// Reads the answer; nil for a server that does not say all of it.
    init?(answer: Result<[String?], PostgresError>) {
        guard case .success(let texts) = answer, texts.count == 3, let system = texts[0].flatMap({ UInt64($0) }),
            let timeline = texts[1].flatMap({ UInt32($0, radix: 16) }), let startedAt = texts[2]
        else { return nil }
        self.init(system: system, timeline: timeline, startedAt: startedAt)
    }
}
