import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

extension LiveHub {
    /// The tables that stand behind some relations: asked once for a model while live requests are followed, and once for all
    /// tasks that begin live requests at the same time.
    ///
    /// Throws `KindredError` `.trackingNotInstalled`; `PostgresError`.
    static func tables(behind names: Set<QualifiedName>, in core: ContextCore) async throws -> LiveTables {
        let tenant = TenantNames(core.settings, in: core.database)
        let key = LiveTables.Key(runtime: core.runtime, tenant: tenant, names: names)
        let hub = core.database.live.liveHubs.withLock { $0[core.settings] as? LiveHub }
        if let known = hub?.state.withLock({ $0.tables[key] }) { return known }
        // As the connection's role: the catalog's answer is the same for all.
        let ask = {
            try await core.database.requireHelperSchema()
            return try await LiveTables(behind: names, of: tenant, core.database.client)
        }
        let shared = core.database.live.tableQuestions.withLock {
            $0.first(or: SharedAnswers<LiveTables.Key, LiveTables>())
        }
        // A transaction may see tables of its own.
        let asked =
            core.client.isInTransaction
            ? try await ask() : try await shared.answer(to: key, isFinal: \.areTracked, ask)
        // Only tracked tables are kept: tables that are not tracked now may be tracked soon.
        if let hub, asked.areTracked { hub.state.withLock { $0.tables[key] = asked } }
        return asked
    }
}
