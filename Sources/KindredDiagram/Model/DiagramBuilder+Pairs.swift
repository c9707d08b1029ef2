import KindredPostgres
import KindredSchema

extension DiagramBuilder {
    /// Every pair of inverse relationships once, sorted by its first end.
    static func pairs(of schema: DatabaseSchema) -> [Diagram.Edge] {
        var pairs: [Diagram.Edge] = []
        for entity in schema.entities {
            for relationship in entity.relationships {
                guard let inverse = schema[relationship.destination]?.relationship(named: relationship.inverse) else {
                    continue
                }
                let isFirst: Bool
                if relationship.kind != .manyToMany {
                    isFirst = !relationship.holdsForeignKey
                } else if relationship.source == inverse.source {
                    isFirst = relationship.name < inverse.name
                } else {
                    isFirst = relationship.source < inverse.source
                }
                if isFirst { pairs.append(edge(relationship, inverse, schema)) }
            }
        }
        return pairs
    }

    private static func edge(
        _ relationship: Relationship,
        _ inverse: Relationship,
        _ schema: DatabaseSchema
    ) -> Diagram.Edge {
        var others: [String] = []
        if let helper = relationship.helper, let table = schema[helper.entity] {
            let keys = helper.sourceColumns + helper.destinationColumns + table.primaryKey
            others = table.attributes.filter { !$0.isHidden && !keys.holds($0.name) }.map(\.name)
        }
        return Diagram.Edge(
            from: end(relationship, reachedBy: inverse), to: end(inverse, reachedBy: relationship),
            kind: relationship.kind, foreignKey: relationship.foreignKey, action: relationship.databaseAction,
            helper: relationship.helper?.entity, helperColumns: others, isByView: relationship.isByView)
    }

    /// The end where a relationship begins; the other one's says how many of it there are.
    private static func end(_ relationship: Relationship, reachedBy inverse: Relationship) -> Diagram.End {
        Diagram.End(
            entity: relationship.source, relationship: relationship.name, isMany: inverse.isToMany,
            isOptional: inverse.isOptional && (inverse.minimumCount ?? 0) == 0, columns: relationship.columns)
    }
}
