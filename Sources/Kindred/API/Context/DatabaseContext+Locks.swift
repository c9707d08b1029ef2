import KindredPostgres
import KindredSchema

extension DatabaseContext {
    /// The locks of an entity's rows that ``DatabaseObject/lock(_:_:announcing:fileID:line:)`` announces: the held ones
    /// first, then each change of them.
    ///
    /// Sends nothing. Throws `KindredError` `.unknownEntity`, and `.invalidRequest` in the context of a tenant. The role has to
    /// be a reader of changes that may select the table, and no policy may hide rows of it from the role: else the first
    /// element is an error.
    public func locks(of entityName: String) throws -> AnnouncedLocks {
        try core.requireNoTenant(for: "locks(of:)")
        return AnnouncedLocks(core: core, entity: try core.runtime.entity(named: entityName))
    }

    /// The announced locks of a typed class's rows.
    ///
    /// Throws `KindredError` `.classMismatch` for a class that is not registered with the database, and `.invalidRequest` in the
    /// context of a tenant.
    public func locks<Object: TypedObject>(of type: Object.Type) throws -> AnnouncedLocks {
        try core.requireNoTenant(for: "locks(of:)")
        return AnnouncedLocks(core: core, entity: try entity(of: type))
    }

    /// The objects among some whose rows another transaction of any client has locked, as the server says itself.
    ///
    /// For each entity a `SELECT … FOR NO KEY UPDATE SKIP LOCKED` and, if any row was skipped, a SELECT that tells
    /// locked rows from rows that are gone; both are rolled back. For that moment the other rows are locked by this
    /// call. Rows that are only referenced (`FOR KEY SHARE`) do not count, nor do locks of the task's own transaction.
    /// The locks may have ended when it returns.
    ///
    /// Throws `KindredError`: `.foreignContext`, `.notStored` and `.objectDeleted` before anything is sent,
    /// `.accessDenied` if the role may not update the rows.
    public func lockedObjects<Object: DatabaseObject>(
        among objects: [Object], fileID: String = #fileID, line: Int = #line
    ) async throws -> [Object] {
        try await client.called(at: fileID, line) {
            let locked = try await LockedRows(core).among(objects)
            return objects.filter { locked.contains($0) }
        }
    }
}
