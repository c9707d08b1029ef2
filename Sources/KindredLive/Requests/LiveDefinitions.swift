import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// Live requests beside the present catalog: other tables may stand behind a view, a policy may show other rows, and a table may
/// have other columns.
struct LiveDefinitions: Sendable {
    /// The requests by their numbers.
    let queries: [Int: LiveQuery]

    /// Whether tables of requests are defined differently; one statement, in the task's transaction.
    func areOutdated() async throws -> Bool {
        guard let core = queries.values.first?.core else { return false }
        let tables = try await tables(behind: names, core)
        return queries.values.contains { $0.tables != tables.part(behind: $0.tables.names) }
    }

    /// How the requests go on that the present tables concern, or why they cannot.
    ///
    /// One statement for all requests.
    func adapted(to present: PresentTables) async throws -> [Int: Result<LiveQuery, any Error>] {
        guard let core = queries.values.first?.core else { return [:] }
        let questions = queries.mapValues { query in Result { try query.question(for: present) } }
        let new = questions.values.reduce(into: names) { names, question in
            if case .success(let question?) = question { names.formUnion(question.names) }
        }
        let tables = try await tables(behind: new, core)
        var adapted: [Int: Result<LiveQuery, any Error>] = [:]
        for (number, question) in questions {
            guard let query = queries[number] else { continue }
            switch question {
            case .failure(let error): adapted[number] = .failure(error)
            case .success(let question?):
                adapted[number] = Result { try query.asking(question, from: tables.part(behind: question.names)) }
            case .success(nil):
                let own = tables.part(behind: query.tables.names)
                if own != query.tables { adapted[number] = Result { try query.reading(from: own) } }
            }
        }
        return adapted
    }

    private var names: Set<QualifiedName> {
        queries.values.reduce(into: Set<QualifiedName>()) { $0.formUnion($1.tables.names) }
    }

    /// Asks the catalog; this is no question of a request.
    private func tables(behind names: Set<QualifiedName>, _ core: ContextCore) async throws -> LiveTables {
        core.database.live.trackingMetrics.withLock { $0.readerStatements += 2 }
        // A large catalog takes longer than the limit of a question.
        if core.database.client.isInTransaction {
            _ = try await core.database.client.execute(own: TrackingStatements.ownLimits)
        }
        try await core.database.requireHelperSchema()
        return try await LiveTables(
            behind: names, of: TenantNames(core.settings, in: core.database), core.database.client)
    }
}
