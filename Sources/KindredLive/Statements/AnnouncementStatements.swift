import Kindred
import KindredPostgres
import KindredSchema

/// Statements that announce row locks to other processes.
enum AnnouncementStatements {
    /// The number of the running transaction, and the process that runs it.
    static let holder: SQL = "SELECT pg_catalog.pg_current_xact_id()::pg_catalog.text, pg_catalog.pg_backend_pid()"

    static func announce(
        _ object: String, of entity: Entity, transaction: String, process: Int32, _ note: String
    ) -> SQL {
        """
        SELECT kindred.tracking_announce(\(Int64(entity.oid))::pg_catalog.oid, \(object)::pg_catalog.text, \
        \(transaction)::pg_catalog.text::pg_catalog.xid8, \(process)::pg_catalog.int4, \(note)::pg_catalog.text)
        """
    }

    static func withdraw(_ objects: [String], transaction: String) -> SQL {
        """
        SELECT kindred.tracking_withdraw(\(transaction)::pg_catalog.text::pg_catalog.xid8, \(objects)::pg_catalog.text[])
        """
    }

    /// The announcements that hold now, of one entity.
    static func announced(_ entity: Entity) -> SQL {
        """
        SELECT l.object, l.xid::pg_catalog.text, l.pid, l.announced_by::pg_catalog.text, l.note, l.since
        FROM kindred.tracking_locks(\(Int64(entity.oid))::pg_catalog.oid) AS l
        """
    }
}
