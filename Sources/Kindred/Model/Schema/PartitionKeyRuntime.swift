import KindredPostgres
import KindredSchema

/// A foreign key of single partitions, with names resolved to positions.
struct PartitionKeyRuntime: Sendable {
    let model: PartitionKey
    /// The entity whose rows hold the key, and its columns.
    let source: EntityRuntime
    let columns: [Int]
    /// The columns of the other entity, one for each of `columns`.
    let referenced: [Int]
    /// Whether only the server can compare the keys.
    let isComparedByServer: Bool

    /// Whether the database may change or delete the rows when the rows that they reference are deleted.
    var hasAction: Bool { model.constraints.contains { $0.action != .noAction } }

    /// Whether the database may change the rows when the rows that they reference get other values.
    var hasUpdateAction: Bool { model.constraints.contains { $0.updateAction != .noAction } }

    /// The foreign keys of single partitions by the entity that they reference, if the role may read both ends.
    static func resolve(
        _ schema: DatabaseSchema, _ entity: (QualifiedName) -> EntityRuntime?
    ) -> [EntityRuntime: [PartitionKeyRuntime]] {
        var keys: [EntityRuntime: [PartitionKeyRuntime]] = [:]
        for model in schema.partitionKeys {
            guard let source = entity(model.source), let destination = entity(model.destination),
                let columns = source.entity.attributeIndexes(of: model.columns),
                let referenced = destination.entity.attributeIndexes(of: model.destinationColumns),
                columns.count == referenced.count
            else { continue }
            let needsServer = zip(columns, referenced).contains { column, other in
                source.entity.attributes[column].isComparedByServer(with: destination.entity.attributes[other])
            }
            keys[destination, default: []].append(
                PartitionKeyRuntime(
                    model: model, source: source, columns: columns, referenced: referenced,
                    isComparedByServer: needsServer)
            )
        }
        return keys
    }
}
