public import KindredSchema

/// The effect of deleting objects: the objects concerned, by entity and by the rule that reaches them.
///
/// A value, valid for the time at which it was made. A plan calls no hooks, and lacks the objects that they would
/// delete.
public struct DeletionPlan: Sendable {
    /// Objects of one entity that one rule reaches.
    public struct Item: Sendable, Hashable {
        /// The entity of the objects.
        public let entity: QualifiedName
        /// The rule that reaches them; nil for the objects whose deletion was requested.
        ///
        /// `cascade`: they are deleted. `nullify`: they lose the deleted ones. `deny`: they forbid the deletion.
        /// `noAction`: the database's constraint decides about them.
        public let rule: DeleteRule?
        /// The relationship, of the entity of the deleted objects, that leads to them.
        public let relationship: Relationship?
        /// The foreign keys that lead to them without a relationship: those of single partitions.
        public let constraints: [String]
        /// Whether they forbid the deletion: by the rule `deny`, or because they would lose a required relationship.
        public let isDenied: Bool
        /// The objects, each once.
        public let objects: [ObjectID]
    }

    /// The items: first the deleted objects, in the order in which they are reached, then the rest.
    public let items: [Item]

    /// All deleted objects, including rows of helper tables.
    public var deleted: [ObjectID] {
        items.filter { $0.rule == nil || $0.rule == .cascade }.flatMap(\.objects)
    }

    /// Whether a rule would refuse the deletion.
    public var isDenied: Bool { items.contains(where: \.isDenied) }
}

extension DatabaseContext {
    /// The effect of deleting an object; changes nothing, and calls no hook.
    public func deletionPlan(
        for object: DatabaseObject, fileID: String = #fileID, line: Int = #line
    ) async throws -> DeletionPlan {
        try await deletionPlan(for: CollectionOfOne(object), fileID: fileID, line: line)
    }

    /// The effect of deleting objects; changes nothing, and calls no hook.
    ///
    /// One SELECT for each relationship and level, in one transaction with one snapshot. Throws `KindredError`
    /// `.objectDeleted` if a row is gone.
    public func deletionPlan(
        for objects: some Sequence<DatabaseObject>, fileID: String = #fileID, line: Int = #line
    ) async throws -> DeletionPlan {
        try await client.called(at: fileID, line) { try await plan(for: objects) }
    }

    private func plan(for objects: some Sequence<DatabaseObject>) async throws -> DeletionPlan {
        let objects = Array(objects)
        for object in objects {
            try core.requireOwn(object)
            try object.requireLive()
        }
        let rules = DeletionRules(core.runtime, roots: Set(objects.map(\.runtime)), complete: true)
        return try await transaction(isolation: .repeatableRead) {
            var search = DeletionSearch(self, rules, isLocking: false)
            var items: [DeletionPlan.Item] = []
            func add(
                _ entity: EntityRuntime, _ keys: [ObjectKey], _ step: DeletionStep? = nil,
                _ partitionKey: PartitionKey? = nil
            ) {
                guard !keys.isEmpty else { return }
                items.append(
                    DeletionPlan.Item(
                        entity: entity.name,
                        rule: partitionKey == nil ? step.map(\.rule) : .noAction,
                        relationship: step?.relationship.model,
                        constraints: partitionKey?.constraints.map(\.name) ?? [],
                        isDenied: step?.isCheck ?? false,
                        objects: keys.map { ObjectID(entity, $0) }
                    )
                )
            }
            /// The keys of the rows that stay, in order.
            func staying(_ result: QueryResult, _ entity: EntityRuntime) throws -> [ObjectKey] {
                try result.indices.compactMap { position in
                    guard let key = try ObjectKey(result, position, Array(entity.key.indices)),
                        search.found[entity]?.rows[key] == nil
                    else { return nil }
                    return key
                }
            }
            for (entity, objects) in grouped(objects) {
                let missing = try await search.add(try objects.map { try $0.requireKey() }, of: entity)
                if !missing.isEmpty { throw core.gone(objects) }
                add(entity, search.found[entity]?.keys ?? [])
            }
            try await search.expand()
            for (step, keys) in search.reached { add(step.destination, keys, step) }
            for step in search.steps where step.action != .cascade {
                let entity = step.destination
                guard !entity.key.isEmpty else { continue }
                var others: [ObjectKey] = []
                for keys in try search.sources(of: step).slices() {
                    let statement = try DeletionStatements.others(step, keys, columns: entity.key, isLocked: false)
                    others += try staying(try await send([statement], entity)[0], entity)
                }
                add(step.destination, others, step)
            }
            for referenced in search.found.keys.sorted() {
                for key in core.runtime.partitionKeys[referenced] ?? [] where !key.source.key.isEmpty {
                    let entity = key.source
                    var others: [ObjectKey] = []
                    for keys in search.found[referenced]?.keys.slices() ?? [] {
                        let statement = try DeletionStatements.others(key, to: referenced, keys)
                        others += try staying(try await send([statement], entity)[0], entity)
                    }
                    add(key.source, others, nil, key.model)
                }
            }
            return DeletionPlan(items: items)
        }
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
