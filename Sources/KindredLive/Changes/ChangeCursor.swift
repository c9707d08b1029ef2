import Kindred
import KindredPostgres

/// A place in the stream of a database's changes: everything that was committed before it has been told.
///
/// `Codable`, and good in any process: of one database on one server, as long as the records behind it are kept.
public struct ChangeCursor: Sendable, Hashable, Codable {
    /// The installation of change tracking; it changes when records are thrown away.
    let epoch: String
    /// The server's system identifier, its timeline and the database.
    let system: Int64
    let timeline: String
    let database: UInt32
    /// The transactions that have been told, as a `pg_snapshot`.
    let snapshot: String

    /// The reason why another cursor is of no use in this cursor's stream; nil if it is of the same stream.
    func refusal(of cursor: ChangeCursor) -> Tracking.Gap? {
        guard cursor.system == system, cursor.timeline == timeline, cursor.database == database else {
            return .foreignCursor
        }
        return cursor.epoch == epoch ? nil : .expired
    }
}
