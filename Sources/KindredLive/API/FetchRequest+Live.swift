public import Kindred
import KindredPostgres

extension FetchRequest {
    /// The request as a live request, which is answered again whenever its answer changes.
    ///
    /// Every request that `all()` takes can be live. The primary key is added behind its sort keys; a list
    /// without sort keys keeps its order, and new objects come at its end. Equal live requests of a process are answered by
    /// the same statements.
    ///
    /// One statement, about the tables that the request reads, including tables of views and policies. Changes by time,
    /// by a setting or inside of a function are not seen.
    ///
    /// With a client's cursor the first update says what the client lacks: nothing (`cause` is ``LiveCause/unchanged``, and the client
    /// has `objects` already), a difference to the list that it was shown (``LiveCause/change``), or the whole list
    /// (``LiveCause/everything(_:)``), for a list of more than 200 rows that may have changed, and for a cursor that is not of this
    /// request, these arguments, this role, settings, tenant and database.
    ///
    /// - Parameters:
    ///   - cursor: of the last update that a client was shown, from this process or another; nil for a new client.
    ///   - interval: the least time between two updates; changes meanwhile are merged.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: `KindredError` `.trackingNotEnabled` with the names of all tables whose changes are not recorded,
    ///   `.trackingNotInstalled`, `.trackingVersion`, `.invalidRequest` for an entity without a key, a materialized view, a
    ///   foreign table, a context with `transaction_timeout` or `idle_in_transaction_session_timeout`, and a request that locks
    ///   its rows or has a negative limit or offset.
    public func live(
        since cursor: LiveCursor? = nil, atMostEvery interval: Duration? = nil, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> LiveRequest<Object> {
        let core = context.core
        try core.client.requireSettings()
        try core.settings.requireFollowable()
        return try await core.client.called(at: fileID, line) {
            let live = try await LiveQuery.prepared(
                query, prefetching: prefetched, of: entity, in: core, at: SourcePlace(fileID: fileID, line: line))
            return LiveRequest(query: live, loading: core.loading, interval: interval, cursor: cursor)
        }
    }
}
