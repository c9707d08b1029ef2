import KindredPostgres
import KindredSchema

// Deletions that mark rows, which stay, and the way back.
extension Deleter {
    /// The delete rules for rows of objects that are marked.
    ///
    /// Throws `KindredError` `.invalidRequest` if they reach rows that cannot be marked.
    func markingRules(_ objects: [DatabaseObject]) throws -> DeletionRules { try markingRules(objects.map(\.runtime)) }

    func markingRules(_ roots: [EntityRuntime]) throws -> DeletionRules {
        let rules = DeletionRules(marking: Set(roots), in: core.runtime) { core.hasDeletionHook($0) }
        if let step = rules.unmarkable(from: Set(roots)) { throw KindredError(unmarkable: step) }
        return rules
    }

    /// Marks objects as deleted, all or none, together with the objects that the rules reach.
    func mark(_ objects: [DatabaseObject]) async throws {
        guard let entity = objects.first?.runtime else { return }
        let isOneStatement = objects.count == 1 && !entity.hasRules
        let rules = try markingRules(objects)
        try await reporting(objects) {
            if isOneStatement, rules.isLeftToDatabase { return try await write(objects, of: entity, isMarked: true) }
            try await core.transaction { try await markInTransaction(objects, rules) }
        }
    }

    /// Marks objects inside the running transaction, which must be rolled back after an error.
    func markInTransaction(_ objects: [DatabaseObject], _ rules: DeletionRules) async throws {
        if rules.isLeftToDatabase {
            for (entity, objects) in grouped(objects) { try await write(objects, of: entity, isMarked: true) }
        } else {
            try await performMarking(try await search(for: objects, rules))
        }
    }

    /// Marks all rows of a search, and the rows that the rules reach from them.
    func performMarking(_ search: DeletionSearch) async throws {
        var search = search
        try await search.findAll()
        search.keepObjects()
        let found = search
        try await core.write {
            try await check(found)
            for (entity, rows) in found.found.sorted(by: { $0.key < $1.key }) {
                let count = try await write(rows.keys, of: entity, isMarked: true)
                if count < rows.keys.count { throw KindredError(kept: rows.keys.count - count, of: entity) }
            }
            try countOwners(of: found)
        }
    }

    /// Takes the marks of objects back, and the marks of objects that the rules marked with them.
    func restore(_ objects: some Sequence<DatabaseObject>) async throws {
        let objects = try await deletable(objects)
        guard let entity = objects.first?.runtime else { return }
        for object in objects where object.runtime.deletionMark == nil {
            throw KindredError(
                .invalidRequest,
                "\(object) cannot be restored: \(object.runtime.name) has no column that marks deleted rows",
                entity: object.runtime.name.description)
        }
        try await reporting(objects) {
            if objects.count == 1, !entity.hasRules, !entity.markingSteps.contains(where: { $0.action == .cascade }) {
                return try await write(objects, of: entity, isMarked: false)
            }
            try await core.transaction {
                let others = try await markedTogether(with: objects)
                for (entity, objects) in grouped(objects) { try await write(objects, of: entity, isMarked: false) }
                try await core.write {
                    for (entity, keys) in others { try await write(keys, of: entity, isMarked: false) }
                }
            }
        }
    }

    /// The keys of the rows that were marked together with objects, as the rules lead to them.
    private func markedTogether(
        with objects: [DatabaseObject]
    ) async throws -> [(entity: EntityRuntime, keys: [ObjectKey])] {
        var found: [EntityRuntime: [ObjectKey]] = [:]
        var seen: [EntityRuntime: Set<ObjectKey>] = [:]
        var frontier: [EntityRuntime: [ObjectKey]] = [:]
        for (entity, objects) in grouped(objects) {
            frontier[entity] = try objects.map { try $0.requireKey() }
            seen[entity] = Set(frontier[entity] ?? [])
        }
        while let (entity, keys) = frontier.min(by: { $0.key < $1.key }) {
            frontier[entity] = nil
            for step in entity.markingSteps where step.action == .cascade {
                let other = step.destination
                guard let own = entity.deletionMark, let mark = other.deletionMark else { continue }
                for keys in entity.slices(keys, of: entity.key) {
                    let statement = try MarkStatements.marked(with: keys, of: step, (entity, own), mark)
                    let result = try await core.client.send([statement], other)[0]
                    let all = try result.indices.compactMap {
                        try ObjectKey(result, row: $0, Array(other.key.indices))
                    }
                    let new = all.filter { seen[other, default: []].insert($0).inserted }
                    found[other, default: []] += new
                    if !new.isEmpty { frontier[other, default: []] += new }
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// One UPDATE of objects' rows.
    private func write(_ objects: [DatabaseObject], of entity: EntityRuntime, isMarked: Bool) async throws {
        guard let mark = entity.deletionMark else { return }
        try await core.write(of: entity, [mark]) {
            for object in objects { try object.requireLive() }
            try await CountCheck(core).noteFormer(objects, writing: [mark])
            let rows = try objects.map { try $0.versionedKey }
            let batch = try MarkStatements.write(
                rows.map(\.key), of: entity, at: mark, versions: rows.map(\.version), isMarked: isMarked)
            let result = try await core.client.send(batch, entity, for: objects)[0]
            guard result.count == objects.count else {
                try await Refresher(core).requireAlone(objects)
                throw MissingRows(objects: objects)
            }
            for object in objects {
                if object.isDeletionStaged { core.rollback([object]) }
                core.unstage([mark], of: object)
            }
            try take(result, of: entity, isMarked: isMarked)
        }
    }

    /// One UPDATE for each 10,000 rows; returns how many were written.
    @discardableResult
    private func write(_ keys: [ObjectKey], of entity: EntityRuntime, isMarked: Bool) async throws -> Int {
        guard let mark = entity.deletionMark else { return 0 }
        var count = 0
        for keys in keys.slices() {
            let batch = try MarkStatements.write(keys, of: entity, at: mark, isMarked: isMarked)
            let result = try await core.client.send(batch, entity)[0]
            count += result.count
            for key in keys {
                guard let object = core.liveObject(entity, key) else { continue }
                if object.isDeletionStaged { core.rollback([object]) }
                core.unstage([mark], of: object)
            }
            try take(result, of: entity, isMarked: isMarked)
        }
        return count
    }

    /// Gives the written rows to memory.
    private func take(_ result: QueryResult, of entity: EntityRuntime, isMarked: Bool) throws {
        let rows = try EntityRows(result, of: entity)
        let unheld = try core.take(written: rows, of: entity)
        guard !unheld.isEmpty else { return }
        core.take(RowGap(.shown, of: entity))
        if core.runtime.countLimits == nil { return }
        for position in unheld {
            core.countPaired(try rows[position], of: entity)
            if !isMarked { core.countMove(of: entity, from: nil, to: try rows[position]) }
        }
    }
}

extension KindredError {
    /// The error for rows that a rule would have to mark as deleted, and that have no column for it.
    fileprivate init(unmarkable step: DeletionStep) {
        let (entity, key) = (step.source.name, step.relationship.model.name)
        self.init(
            .invalidRequest,
            """
            An object of \(entity) cannot be marked as deleted: the rule of its "\(key)" deletes objects of \
            \(step.destination.name), which cannot be marked; name a column of theirs by {"softDelete": …}, or give \
            the relationship another rule. Nothing was written
            """,
            entity: entity.description, key: key)
    }
}
