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

    /// Why a read went to the primary.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The context has unsaved changes.
        case stagedChanges
        /// A write depends on it.
        case write
        /// The context follows the changes of others.
        case tracking
        /// No replica answers, or none lags by less than the context allows.
        case noReplica
        /// No replica had replayed the position that the context needs.
        case behind
        /// The position that the context needs is of another cluster or timeline.
        case otherTimeline
        /// The position of a write of the context is not known.
        case unknownPosition
        /// The replica failed, cancelled the read or refused it.
        case failed
    }

    mutating func count(_ reason: Reason) { primary[reason, default: 0] += 1 }
}
