import KindredPostgres

extension DatabaseContext {
    /// The servers that answer the reads of a context.
    ///
    /// A replica can answer only questions of the program: fetched objects, `find` and `get`, counts, totals, pages,
    /// streams, and relationships that are loaded; and raw SQL whose call says so. The primary answers everything in a
    /// transaction, other raw SQL, COPY, locks, reads that a write depends on, and all reads of a context that has unsaved
    /// changes or follows committed changes.
    public enum Reading: Sendable, Hashable {
        /// The primary, for everything; the default.
        case primary
        /// A replica that lags by no more than a limit, else the primary.
        ///
        /// - Parameter maximumLag: the greatest age of the rows that a read shows, at most by `replicaDelay` of the
        ///   configuration where the engine tells no positions. More than some minutes cannot be told, and counts as beyond
        ///   every limit; so does the lag while the primary is silent.
        case replica(maximumLag: Duration)
        /// A replica that lags by no more than a second, else the primary.
        case automatic

        var maximumLag: Duration? {
            switch self {
            case .primary: nil
            case .replica(let limit): limit
            case .automatic: .seconds(1)
            }
        }

        /// Throws for SQL of the program that no replica can answer, whatever servers there are.
        func admit(_ sql: SQL) throws {
            if self == .primary { return }
            try sql.statement(types: nil).requireQuery(
                "Only a query can be read from a replica; leave `reading` out for other statements")
        }
    }
}
