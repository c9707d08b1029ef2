import KindredPostgres
import KindredSchema

/// Finds the effect of a deletion, and deletes nothing.
struct DeletionPlanner: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// The effect of deleting objects, in one snapshot.
    ///
    /// - Parameter permanently: whether rows go that would be marked as deleted.
    func plan(for objects: [DatabaseObject], permanently: Bool) async throws -> DeletionPlan {
        for object in objects {
            try core.requireOwn(object)
            try object.requireLive()
        }
        let marked = permanently ? [] : objects.filter { $0.runtime.deletionMark != nil }
        let gone = objects.filter { object in !marked.contains { $0 === object } }
        return try await core.transaction(TransactionOptions(isolation: .repeatableRead)) {
            var items: [DeletionPlan.Item] = []
            if !gone.isEmpty {
                items += try await self.items(
                    gone, DeletionRules(core.runtime, roots: Set(gone.map(\.runtime)), complete: true))
            }
            if !marked.isEmpty { items += try await self.items(marked, try Deleter(core).markingRules(marked)) }
            return DeletionPlan(items: items.filter { !$0.objects.isEmpty })
        }
    }

    /// The items of objects that are deleted by the same rules.
    private func items(_ objects: [DatabaseObject], _ rules: DeletionRules) async throws -> [DeletionPlan.Item] {
        var search = DeletionSearch(core, rules, isLocking: false)
        var items: [DeletionPlan.Item] = []
        for (entity, objects) in grouped(objects) {
            let missing = Set(try await search.add(try objects.map { try $0.requireKey() }, of: entity))
            if !missing.isEmpty {
                throw try core.lost(objects.filter { $0.key.map(missing.contains) ?? false })
            }
            items += [DeletionPlan.Item(entity, search.found[entity]?.keys ?? [])]
        }
        try await search.expand()
        items += search.reached.map { step, keys in DeletionPlan.Item(step.destination, keys, step: step) }
        items += try await staying(search)
        if !rules.isMarking { items += try await referring(search) }
        return items
    }

    /// The objects that relationships with other rules than `cascade` lead to, and that stay.
    private func staying(_ search: DeletionSearch) async throws -> [DeletionPlan.Item] {
        var items: [DeletionPlan.Item] = []
        for step in search.steps where step.action != .cascade {
            let entity = step.destination
            guard !entity.key.isEmpty else { continue }
            let statements = try search.sources(of: step).slices().map {
                try DeletionStatements.others(
                    step, $0, columns: entity.key, isLocked: false, among: search.rules.isMarking ? .shown : .all)
            }
            items.append(DeletionPlan.Item(entity, try await keys(statements, entity, without: search), step: step))
        }
        return items
    }

    /// The objects that foreign keys of single partitions lead to, and that stay.
    private func referring(_ search: DeletionSearch) async throws -> [DeletionPlan.Item] {
        var items: [DeletionPlan.Item] = []
        for referenced in search.found.keys.sorted() {
            for key in core.runtime.partitionKeys[referenced] ?? [] where !key.source.key.isEmpty {
                let statements = try (search.found[referenced]?.keys.slices() ?? []).map {
                    try DeletionStatements.others(key, to: referenced, $0)
                }
                items.append(
                    DeletionPlan.Item(
                        key.source, try await keys(statements, key.source, without: search), partitionKey: key.model))
            }
        }
        return items
    }

    /// The keys of the rows that statements select and that stay, in order.
    private func keys(
        _ statements: [Statement], _ entity: EntityRuntime, without search: DeletionSearch
    ) async throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        for statement in statements {
            let result = try await core.client.send([statement], entity)[0]
            keys += try result.indices.compactMap { position in
                guard let key = try ObjectKey(result, row: position, Array(entity.key.indices)),
                    search.found[entity]?.rows[key] == nil
                else { return nil }
                return key
            }
        }
        return keys
    }
}

extension DeletionPlan.Item {
    fileprivate init(
        _ entity: EntityRuntime, _ keys: [ObjectKey], step: DeletionStep? = nil, partitionKey: PartitionKey? = nil
    ) {
        self.init(
            entity: entity.name,
            rule: partitionKey == nil ? step.map(\.rule) : .noAction,
            relationship: step?.relationship.model,
            constraints: partitionKey?.constraints.map(\.name) ?? [],
            isDenied: step?.isCheck ?? false,
            objects: keys.map { ObjectID(entity, $0) }
        )
    }
}

extension DeletionStep {
    /// The rule that the step carries out.
    fileprivate var rule: DeleteRule {
        switch action {
        case .cascade, .cascadeWithoutKey: .cascade
        case .deny: .deny
        case .nullify, .refuse: .nullify
        case .noAction: .noAction
        }
    }
}
