/// Where a database's reads went, as counted since it was connected.
///
/// Only reads of contexts that may read from replicas are counted.
public struct ReadMetrics: Sendable, Hashable {
    /// The reads that replicas have answered.
    public internal(set) var replica = 0
    /// The reads that went to the primary, by the reason.
    public internal(set) var primary: [Reason: Int] = [:]
    /// The positions of clients that the primary has not reached, and that were ignored.
    public internal(set) var ignoredPositions = 0
    /// The reads that were asked again elsewhere, because the answer of a replica was overdue.
    public internal(set) var secondRequests = 0
    /// The reads whose second answer came first; they count for the server that gave it.
    public internal(set) var secondAnswers = 0
    /// The servers that are no primary, as they were seen last; none until a primary was seen.
    public internal(set) var replicas: [Replica] = []

    /// A server that is not the primary.
    public struct Replica: Sendable, Hashable {
        /// Its address and database.
        public let address: String
        /// The age of the newest place of the primary that it has replayed; nil if it is not known, so that the server is left out of
        /// reads: it does not answer, is of another cluster or timeline, or the primary is silent.
        public let lag: Duration?
    }

    /// Why a read went to the primary.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The context has unsaved changes.
        case stagedChanges
        /// A write depends on it.
        case write
        /// The context follows committed changes.
        case tracking
        /// No replica answers, or none lags by less than the context allows.
        case noReplica
        /// No replica had replayed the position that the context needs.
        case behind
        /// The position that the context needs is of another cluster or timeline.
        case otherTimeline
        /// The context has written within the time that ``PostgresConfiguration/replicaDelay`` sets.
        case recentWrite
        /// The position of a write of the context is not known.
        case unknownPosition
        /// The replica failed, cancelled the read or refused it.
        case failed
        /// The answer of the replica was overdue, and the primary answered first.
        case overdue
    }

    mutating func count(_ reason: Reason) { primary[reason, default: 0] += 1 }
}
