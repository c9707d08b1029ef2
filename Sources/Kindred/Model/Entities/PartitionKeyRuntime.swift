import KindredPostgres
import KindredSchema

/// A foreign key of single partitions, with names resolved to positions.
struct PartitionKeyRuntime: Sendable {
    let model: PartitionKey
    /// The entity whose rows hold the key, and its columns.
    let source: Int
    let columns: [Int]
    /// The columns of the other entity, one for each of `columns`.
    let referenced: [Int]
    /// Whether only the server can compare the keys.
    let isComparedByServer: Bool

    /// Whether the database may change or delete the rows when the rows that they reference are deleted.
    var hasAction: Bool { model.constraints.contains { $0.action != .noAction } }

    /// The foreign keys of single partitions by the entity that they reference, if the role may read both ends.
    static func resolve(
        _ schema: DatabaseSchema, _ positions: [QualifiedName: Int]
    ) -> [Int: [PartitionKeyRuntime]] {
        var keys: [Int: [PartitionKeyRuntime]] = [:]
        for model in schema.partitionKeys {
            guard let source = positions[model.source], let destination = positions[model.destination],
                let columns = schema.entities[source].attributeIndexes(of: model.columns),
                let referenced = schema.entities[destination].attributeIndexes(of: model.destinationColumns),
                columns.count == referenced.count
            else { continue }
            let needsServer = zip(columns, referenced).contains { column, other in
                schema.entities[source].attributes[column].isComparedByServer(
                    with: schema.entities[destination].attributes[other])
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
