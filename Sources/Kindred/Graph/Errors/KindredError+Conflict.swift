public import KindredPostgres

extension KindredError {
    /// An object that was not written because another transaction has changed its row since it was read.
    ///
    /// `DatabaseObject.refresh()` reads the database's values and keeps staged changes; the next save has no conflict.
    public struct Conflict: Sendable {
        /// The object whose write was refused.
        public let object: DatabaseObject
        /// The version with which the object was read.
        public let version: PostgresValue?
        /// The row's version in the database.
        public let databaseVersion: PostgresValue?
        /// The attributes whose values in the database differ from the values read, except the version.
        public let changedKeys: [String]
    }
}
