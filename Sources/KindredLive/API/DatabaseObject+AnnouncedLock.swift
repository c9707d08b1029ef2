public import Kindred
import KindredPostgres

extension DatabaseObject {
    /// Locks the object's row until the end of the transaction, and tells other processes so.
    ///
    /// As `lock(_:_:fileID:line:)`, with a statement more in the transaction, one over a connection of its own, and one at
    /// the end. Where it cannot be announced the call throws, and the row is locked all the same: `.trackingNotInstalled`,
    /// `.accessDenied`. Throws `KindredError` `.invalidRequest` in the context of a tenant with a schema of its own.
    ///
    /// - Parameters:
    ///   - lock: the strength of the lock.
    ///   - waiting: the behaviour while another transaction has locked the row.
    ///   - text: a text that other processes are told with the lock until the transaction ends, such as the editor of the
    ///     object: see ``DatabaseContext/locks(of:)-(String)``; nil announces nothing.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    public func lock(
        _ lock: RowLock = .forUpdate, _ waiting: RowLock.Waiting = .wait, announcing text: String?,
        fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await called(at: fileID, line) { core in
            if text != nil, core.tenantSchema != nil {
                try core.requireNoTenant(for: "announced locks")
            }
            try await Refresher(core).lock(self, lock, waiting: waiting)
            if let text { try await LockAnnouncer.of(core.database).announce(self, text) }
        }
    }
}
