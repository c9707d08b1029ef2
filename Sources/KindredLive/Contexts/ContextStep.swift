import Kindred
import KindredPostgres
import KindredSchema
import Synchronization

/// The questions of a step to the database for all contexts of a model, in the step's transaction.
struct ContextStep {
    private let core: ContextCore
    private let entries: [ContextPlan]
    private let fit: ModelFit?

    /// - Parameters:
    ///   - core: one of the contexts, which asks for all.
    ///   - plans: the plans of contexts of the same model.
    ///   - fit: the parts of the model that the tables lack; nil while statements have not said that they lack anything.
    init(of core: ContextCore, _ plans: [ContextPlan], fitting fit: ModelFit?) {
        (self.core, entries, self.fit) = (core, plans, fit)
    }

    /// The contexts' plans, with the results of their questions.
    func plans() async throws -> [ContextPlan] {
        var plans = entries
        let rows = try await rows(plans)
        for place in plans.indices { try plans[place].take(rows) }
        let answers = try await answers(plans)
        let counts = try await counts(plans)
        for place in plans.indices { plans[place].take(answers, counts) }
        return plans
    }

    /// The rows of changed keys: one statement for each entity.
    private func rows(_ plans: [ContextPlan]) async throws -> [EntityRuntime: [ObjectKey: Row]] {
        var wanted: [EntityRuntime: Set<ObjectKey>] = [:]
        for plan in plans { wanted.merge(plan.keys) { $0.union($1) } }
        var rows: [EntityRuntime: [ObjectKey: Row]] = [:]
        for (entity, keys) in wanted.sorted(by: { $0.key < $1.key }) where !keys.isEmpty && !entity.key.isEmpty {
            let lacking = lacking(entity)
            let batch = try Array(keys).slices().map { try KeyStatements(entity: entity).select($0, lacking: lacking) }
            let found = try await core.client.rows(batch, entity)
            if found.isEmpty, plans.contains(where: { $0.expectsRows(of: entity) }) {
                try await core.database.changeReader.requireRows(of: [entity], with: core.settings)
            }
            rows[entity] = found
        }
        return rows
    }

    /// The columns that an entity's rows are read without; the contexts are told, since their objects lack them then.
    private func lacking(_ entity: EntityRuntime) -> ColumnSet {
        guard let fit else { return [] }
        let columns = fit.lacking(entity)
        for plan in entries { plan.core.lack(columns, of: entity) }
        return columns
    }

    /// The members of owners whose relationships are asked for again: one statement for each relationship.
    private func answers(_ plans: [ContextPlan]) async throws -> [RelationshipRuntime: Answer.Builder] {
        var answers: [RelationshipRuntime: Answer.Builder] = [:]
        for (relationship, keys) in owners(plans.map(\.ownerKeys)) {
            answers[relationship] = try await Loader(core).answer(
                relationship, keys, lacking: lacking(relationship.destination))
        }
        return answers
    }

    /// The counts that are asked for again: one statement for each relationship.
    private func counts(_ plans: [ContextPlan]) async throws -> [RelationshipRuntime: [ObjectKey: Int]] {
        var counts: [RelationshipRuntime: [ObjectKey: Int]] = [:]
        for (relationship, keys) in owners(plans.map(\.counts)) {
            let numbers = try await Loader(core).counts(.count, of: relationship, keys)
            counts[relationship] = Dictionary(zip(keys.keys, numbers), uniquingKeysWith: { first, _ in first })
        }
        return counts
    }

    /// The owners that any plan asks about, each once.
    private func owners(
        _ wanted: [[RelationshipRuntime: [ObjectKey]]]
    ) -> [(key: RelationshipRuntime, value: KeyNumbers)] {
        var owners: [RelationshipRuntime: KeyNumbers] = [:]
        for (relationship, keys) in wanted.joined() {
            for key in keys { owners[relationship, default: KeyNumbers()].insert(key) }
        }
        return owners.sorted { $0.key < $1.key }
    }
}
