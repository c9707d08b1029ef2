import KindredPostgres
import KindredSchema

/// Finds the helper tables that one line says everything of.
enum FoldedHelpers {
    /// The helpers that are related to nothing but the two ends they join, so that without them no relationship is lost.
    static func find(in schema: DatabaseSchema) -> Set<QualifiedName> {
        var joined: [QualifiedName: Set<QualifiedName>] = [:]
        var keys: [QualifiedName: Set<ServerText>] = [:]
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard let helper = relationship.helper else { continue }
                joined[helper.entity, default: []].insert(relationship.destination)
                keys[helper.entity, default: []].formUnion(texts: [
                    helper.sourceForeignKey, helper.destinationForeignKey,
                ])
            }
        }
        return Set(
            joined.keys.filter { name in
                guard let helper = schema[name] else { return false }
                return helper.relationships.allSatisfy { relationship in
                    relationship.holdsForeignKey && joined[name]?.contains(relationship.destination) == true
                        && relationship.foreignKey.map { keys[name]?.contains($0) == true } == true
                }
            })
    }
}
