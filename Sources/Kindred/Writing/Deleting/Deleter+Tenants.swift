import KindredPostgres
import KindredSchema

// Deletions where Citus distributes rows.
extension Deleter {
    /// Rows and references that one statement deletes together.
    typealias Part = (
        keyed: [(entity: EntityRuntime, keys: [ObjectKey])], keyless: [(step: DeletionStep, sources: [ObjectKey])]
    )

    /// A deletion in parts that one statement each can do: one part, or, where Citus distributes rows, the rows of each
    /// tenant, and at last rows that Citus does not distribute, to which these may refer.
    ///
    /// Within a tenant, as without Citus, the order does not matter: foreign keys are checked at the end of the
    /// statement.
    static func byTenant(
        _ keyed: [(entity: EntityRuntime, keys: [ObjectKey])], _ keyless: [(step: DeletionStep, sources: [ObjectKey])]
    ) -> [Part] {
        let entities = keyed.map(\.entity) + keyless.map { $0.step.linkedEntity }
        guard entities.contains(where: { $0.distributionColumn != nil }) else { return [(keyed, keyless)] }
        var parts: [PostgresValue?: Part] = [:]
        for (entity, keys) in keyed {
            for (tenant, keys) in entity.byTenant(keys, of: entity.key) {
                parts[tenant, default: ([], [])].keyed.append((entity, keys))
            }
        }
        for (step, sources) in keyless {
            for (tenant, sources) in step.linkedEntity.byTenant(sources, of: step.destinationColumns) {
                parts[tenant, default: ([], [])].keyless.append((step, sources))
            }
        }
        return parts.sorted {
            guard let own = $0.key, let other = $1.key else { return $0.key != nil && $1.key == nil }
            return own.isBefore(other)
        }.map(\.value)
    }
}
