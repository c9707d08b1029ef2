public import Kindred
import KindredPostgres

extension Tracking {
    /// Why changes are not named row by row.
    public enum Gap: String, Sendable, Hashable, Codable, CaseIterable {
        /// A statement changed more rows than are recorded one by one, or the table was truncated.
        case bulk
        /// The table itself was changed, dropped or made anew.
        case schemaChanged
        /// Records were missing: a trigger was disabled or missing, or no reader was there for longer than the retention.
        case unrecorded
        /// The table has no key, or a policy hides keys from the role.
        case unnamed
        /// The role may not read the table: a sequence is told once until its rights change.
        case accessDenied
        /// The consumer was too slow.
        case overflow
        /// The cursor is older than the records that are kept.
        case expired
        /// The cursor is of another server, database or timeline, or of the future.
        case foreignCursor
    }
}
