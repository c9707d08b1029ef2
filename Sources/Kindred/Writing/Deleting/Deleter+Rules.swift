import KindredPostgres
import KindredSchema

// Deletions that search for the rows that the rules reach.
extension Deleter {
    /// Deletes objects with their rules, inside the running transaction.
    ///
    /// After an error, the enclosing transaction or savepoint must be rolled back.
    func deleteInTransaction(_ objects: [DatabaseObject], permanently: Bool = false) async throws {
        let (gone, marked) = split(objects, permanently: permanently)
        let rules = marked.isEmpty ? nil : try markingRules(marked)
        // Deletes first: an object that goes may be the one object that forbids a mark.
        if !gone.isEmpty { try await perform(try await search(for: gone, deletionRules(gone.map(\.runtime)))) }
        if let rules { try await markInTransaction(marked, rules) }
    }

    /// A search that begins with some objects, whose rows are locked.
    func search(for objects: [DatabaseObject], _ rules: DeletionRules) async throws -> DeletionSearch {
        var search = DeletionSearch(core, rules, isLocking: true)
        for (entity, objects) in grouped(objects) {
            let missing = Set(try await search.add(try objects.map { try $0.requireKey() }, of: entity))
            if !missing.isEmpty {
                throw MissingRows(objects: objects.filter { $0.key.map(missing.contains) ?? false })
            }
            let stale = try objects.filter { try !search.hasExpectedVersion($0) }
            if !stale.isEmpty { throw try await Refresher(core).unwritten(stale) }
        }
        return search
    }

    /// Deletes everything that a request selects, with the rules, and returns how many objects it selected.
    func deleteInTransaction(_ request: SelectQuery, of entity: EntityRuntime) async throws -> Int {
        var search = DeletionSearch(core, deletionRules([entity]), isLocking: true)
        try await search.add(request, of: entity)
        // Without the rows of the entity that a rule deletes with them.
        let selected = search.found[entity]?.keys ?? []
        guard !selected.isEmpty else { return 0 }
        let deleted = try await perform(search, keepsRows: true).found[entity]?.rows ?? [:]
        return selected.count { deleted[$0] != nil }
    }

    /// - Parameter keepsRows: whether a trigger, rule or policy may keep rows; otherwise that is an error.
    /// - Returns: the deleted rows.
    @discardableResult
    private func perform(_ search: DeletionSearch, keepsRows: Bool = false) async throws -> DeletionSearch {
        var search = search
        try await search.findAll()
        let found = search
        return try await core.write {
            try await check(found)
            try await nullify(found)
            var deleted = found
            for (entity, count) in try await deleteFound(found) {
                guard keepsRows else { throw KindredError(kept: count, of: entity) }
                let keys = found.found[entity]?.keys ?? []
                deleted.remove(try await core.client.storedKeys(among: keys, of: entity), of: entity)
            }
            try applyFound(deleted)
            try countOwners(of: deleted)
            return deleted
        }
    }

    /// Notes the owners of deleted rows.
    func countOwners(of search: DeletionSearch) throws {
        guard let limits = core.runtime.countLimits else { return }
        for (entity, found) in search.found {
            let columns = search.rules.columns(of: entity)
            for link in limits.requiredLinks(of: entity) {
                let positions = link.columns.compactMap(columns.firstIndex(of:))
                for row in found.rows.values {
                    if let owner = try ObjectKey(row, positions) {
                        core.journal?.count(link.relationship, owner, in: core)
                    }
                }
            }
        }
    }

    /// Throws if a remaining row forbids the deletion.
    func check(_ search: DeletionSearch) async throws {
        var batch: [(step: DeletionStep, statement: Statement)] = []
        for step in search.steps where step.isCheck {
            let deleted = search.found[step.destination]?.keys ?? []
            for keys in try search.sources(of: step).slices() {
                batch.append(
                    (
                        step,
                        try DeletionStatements.blockers(
                            step, keys, without: deleted, isFiltered: search.rules.isMarking)
                    ))
            }
        }
        guard let first = batch.first else { return }
        let results = try await core.client.send(batch.map(\.statement), first.step.source)
        for ((step, _), result) in zip(batch, results) where result.count > 0 {
            let columns = Array(step.destinationColumns.indices)
            let count = try result.row(at: 0).decode(columns.count, as: Int.self) ?? 0
            let source = try ObjectKey(result, row: 0, columns).flatMap { try search.source(of: step, with: $0) }
            throw KindredError(
                denied: step, source: source, count: count, among: search.found[step.source]?.keys ?? [])
        }
    }

    /// Sets the foreign keys of remaining rows to NULL.
    private func nullify(_ search: DeletionSearch) async throws {
        for step in search.steps {
            guard case .nullify(let columns) = step.action, !columns.isEmpty else { continue }
            let entity = step.destination
            let deleted = search.found[step.destination]?.keys ?? []
            for keys in try search.sources(of: step).slices() {
                let statement = try DeletionStatements.nullify(step, clearing: columns, of: keys, without: deleted)
                let result = try await core.client.send(
                    [statement], entity, key: step.relationship.inverse.model.name)[0]
                guard result.count > 0, !entity.key.isEmpty else { continue }
                try core.take(written: EntityRows(result, of: entity), of: entity)
            }
        }
    }

    /// Deletes the rows; returns the entities whose rows a trigger, rule or policy kept in part, with their number.
    private func deleteFound(_ search: DeletionSearch) async throws -> [(EntityRuntime, Int)] {
        let keyed = search.found.sorted { $0.key < $1.key }.map { (entity: $0.key, keys: $0.value.keys) }
        var keyless: [(step: DeletionStep, sources: [ObjectKey])] = []
        for step in search.steps where step.action == .cascadeWithoutKey {
            keyless.append((step, try search.sources(of: step)))
        }
        var kept: [(EntityRuntime, Int)] = []
        for (keyed, keyless) in Self.byTenant(keyed, keyless) {
            guard let first = keyed.first?.entity ?? keyless.first?.step.destination else { continue }
            let statement = try DeletionStatements.delete(keyed, keyless: keyless)
            let result = try await sendDeletion(statement, first, among: search.found.mapValues(\.keys))
            kept += try keyed.enumerated().compactMap { position, rows in
                let count =
                    result.count == 1 ? try result.row(at: 0).decode(position, as: Int.self) : result.affectedRows
                return count == rows.keys.count ? nil : (rows.entity, rows.keys.count - (count ?? 0))
            }
        }
        return kept
    }

    private func applyFound(_ search: DeletionSearch) throws {
        var gone: [ForeignKeyActions.Gone] = []
        for (entity, found) in search.found.sorted(by: { $0.key < $1.key }) {
            try core.take(found.keys.lazy.map { RowChange(deleted: $0, of: entity) })
            let columns = search.rules.columns(of: entity)
            gone.append(
                ForeignKeyActions.Gone(entity: entity) { wanted in
                    Set(try entity.referencedKeys(found.rows.values, wanted, in: columns))
                })
        }
        var actions = ForeignKeyActions(core)
        try actions.follow(gone, except: search.rules.isExplicit)
    }
}
