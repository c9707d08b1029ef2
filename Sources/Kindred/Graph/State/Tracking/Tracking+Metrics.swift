import KindredPostgres

extension Tracking {
    /// Counters and gauges of the parts of this process that follow a database's changes.
    ///
    /// Read them by `database.tracking.metrics` of `KindredLive`, whose page "Operating live changes" says which values
    /// call for which action. BEGIN and COMMIT are not counted as statements.
    public struct Metrics: Sendable, Hashable {
        /// Subscribers of the reader: each sequence, all live requests together, all contexts together.
        public var subscribers = 0
        /// Live requests that are evaluated; equal requests count once.
        public var liveRequests = 0
        /// Whether the server notifies the reader; otherwise it polls.
        ///
        /// A lost listening connection that is being reopened counts as one.
        public var isListening = false
        /// Records that were unread before the last reading, which read them.
        public var backlog = 0
        /// The age that the oldest record had at the last reading; zero if there was none.
        public var oldestRecord: Duration = .zero
        /// Readings of the outbox.
        public var readings = 0
        /// Records that were read: one for each statement that changed rows of a table.
        public var records = 0
        /// Statements that live requests and contexts asked: for first answers, and because of changes.
        ///
        /// Divided by ``records``, the statements for each change.
        public var statements = 0
        /// Statements of the reader itself: readings, reports of its state between them, and comparisons with the catalog.
        public var readerStatements = 0
        /// Notifications that woke the reader.
        public var wakeUps = 0
        /// Steps that were run again, because the connection was lost or the server could not be reached.
        public var retries = 0
        /// How often changes of a table were told without naming rows, by reason; once for each reading and reason.
        public var gaps: [String: Int] = [:]
        /// The questions that were too slow for a common step, and are asked alone, with the time that each took last.
        ///
        /// A live request is named by its entity and by the place in the program where it was begun: `public.book at
        /// Shop/Shelf.swift:12`. See `questionTimeout` of ``Tracking/Options``.
        public var slowQuestions: [String: Duration] = [:]

        /// Nothing has been counted.
        public init() {}
    }
}
