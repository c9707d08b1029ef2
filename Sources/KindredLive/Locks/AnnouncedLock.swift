public import Kindred
public import KindredPostgres

extension AnnouncedLocks {
    /// A row whose lock was announced, by ``Kindred/DatabaseObject/lock(_:_:announcing:fileID:line:)``.
    public struct Lock: Sendable, Hashable {
        /// The object whose row is locked.
        public let object: ObjectID
        /// The announced text, such as the name of a person.
        public let text: String
        /// The role that announced it.
        public let role: String
        /// The server's process that has the lock, as in `pg_stat_activity`.
        public let process: Int32
        /// The time of its announcement, by the server's clock.
        public let since: PostgresTimestamp
        /// The transaction that has the lock.
        let transaction: String
    }
}

extension AnnouncedLocks {
    /// The announced locks of an entity's objects, and the difference to the last update.
    public struct Update: Sendable, Hashable {
        /// All that are held, the oldest first.
        public let held: [AnnouncedLocks.Lock]
        /// The locks that were not held before.
        public let announced: [AnnouncedLocks.Lock]
        /// The locks that are no longer held.
        public let released: [AnnouncedLocks.Lock]

        /// nil if nothing has changed.
        ///
        /// - Parameter before: the last update's locks; nil at the first time, which is always told.
        init?(_ held: [AnnouncedLocks.Lock], since before: [AnnouncedLocks.Lock]?) {
            let (known, present) = (Set(before ?? []), Set(held))
            guard before == nil || known != present else { return nil }
            self.held = held
            announced = held.filter { !known.contains($0) }
            released = (before ?? []).filter { !present.contains($0) }
        }
    }
}
