import KindredPostgres
package import KindredSchema
import Synchronization

/// A schema prepared for use by contexts: immutable and shared; a refresh replaces it.
package final class SchemaRuntime: Sendable {
    package let schema: DatabaseSchema
    package let entities: [EntityRuntime]
    /// Whether views take part in any relationship.
    let hasViewRelationships: Bool
    /// Whether tables inherit from others, so that two of them show the same rows.
    let hasInheritance: Bool
    /// The sets with limits on their number of members; nil if there are none.
    let countLimits: CountLimits?
    /// The foreign keys of single partitions, by the entity that they reference.
    let partitionKeys: [Int: [PartitionKeyRuntime]]
    private let positions: [QualifiedName: Int]
    /// The database's own actions when an entity's rows are deleted, by entity; filled on demand.
    let deletionClosures = RankedMutex<[Int: DeletionClosure]>([:], .leaf)

    /// The entities' classes, bound to this schema.
    let classes: BoundClasses
    let registered: TypedClasses
    /// The mismatches of classes and schema.
    let mismatches: [String]

    package init(_ schema: DatabaseSchema, classes: TypedClasses = TypedClasses()) {
        registered = classes
        let classes = classes.bound(to: schema)
        self.classes = classes
        let positions = Dictionary(
            schema.entities.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        self.positions = positions
        hasViewRelationships = schema.entities.contains { $0.relationships.contains(where: \.isByView) }
        hasInheritance = schema.entities.contains { $0.rowTables != nil }
        let shown = Set(schema.entities.flatMap(\.shownTables))
        partitionKeys = PartitionKeyRuntime.resolve(schema, positions)
        var relationships: [[RelationshipRuntime]] = []
        var helperEnds: [[(entity: Int, slot: Int, columns: [Int])]] = .init(
            repeating: [],
            count: schema.entities.count
        )
        for (source, entity) in schema.entities.enumerated() {
            relationships.append(
                entity.relationships.enumerated().compactMap { slot, model in
                    Self.resolve(model, slot: slot, source: source, schema, positions)
                }
            )
            for relationship in relationships[source] {
                if case .helper(let link) = relationship.link {
                    helperEnds[link.entity].append((source, relationship.slot, link.sourceColumns))
                }
            }
        }
        countLimits = CountLimits(relationships)
        var mismatches = classes.problems
        entities = schema.entities.enumerated().map { index, entity in
            EntityRuntime(
                entity: entity,
                index: index,
                relationships: relationships[index],
                helperEnds: helperEnds[index],
                positions: Self.positions(of: relationships[index], relationships),
                layout: classes[entity.name].flatMap {
                    TypedLayout.resolve($0, entity, relationships[index], classes, &mismatches)
                },
                shownEntities: (entity.shownTables + entity.relatives).compactMap { positions[$0] },
                isShown: shown.contains(entity.name)
            )
        }
        self.mismatches = mismatches
        var known = schema
        for case let (name, layout?) in entities.map({ ($0.name, $0.layout) }) {
            known.propertyRelationships[name] = layout.propertyRelationships.mapValues(\.model.name)
        }
        self.schema = known
    }

    /// The columns by which the inverses of to-one relationships are ordered, by slot.
    private static func positions(
        of relationships: [RelationshipRuntime], _ all: [[RelationshipRuntime]]
    ) -> [Int: Int] {
        var positions: [Int: Int] = [:]
        for relationship in relationships where all[relationship.destination].indices.contains(relationship.inverseSlot)
        {
            let inverse = all[relationship.destination][relationship.inverseSlot]
            guard case .referenced = inverse.link else { continue }
            positions[relationship.slot] = inverse.position
        }
        return positions
    }

    /// The entity of a name: `person` follows the search path, `public.person` is exact.
    package func entity(named name: String) throws -> EntityRuntime {
        if let index = schema.index(named: name) { return entities[index] }
        do {
            let entity = try schema.entity(named: name)
            if let runtime = self[entity.name] { return runtime }
        } catch let error as SchemaError {
            throw KindredError(.unknownEntity, error.message, entity: name)
        }
        throw KindredError(.unknownEntity, "No entity is named \"\(name)\"", entity: name)
    }

    package subscript(name: QualifiedName) -> EntityRuntime? {
        positions[name].map { entities[$0] }
    }

    private static func isComparedByServer(
        _ link: RelationshipRuntime.Link, _ source: Entity, _ destination: Entity, _ schema: DatabaseSchema
    ) -> Bool {
        func needServer(_ columns: [Int], _ entity: Entity, _ others: [Int], _ other: Entity) -> Bool {
            zip(columns, others).contains { column, otherColumn in
                entity.attributes[column].isComparedByServer(with: other.attributes[otherColumn])
            }
        }
        switch link {
        case .foreignKey(let columns, let referenced): return needServer(columns, source, referenced, destination)
        case .referenced(let referenced, let columns): return needServer(columns, destination, referenced, source)
        case .helper(let link):
            let helper = schema.entities[link.entity]
            return needServer(link.sourceColumns, helper, link.source, source)
                || needServer(link.destinationColumns, helper, link.destination, destination)
        }
    }

    private static func resolve(
        _ model: Relationship,
        slot: Int,
        source: Int,
        _ schema: DatabaseSchema,
        _ positions: [QualifiedName: Int]
    ) -> RelationshipRuntime? {
        let entities = schema.entities
        guard let destination = positions[model.destination],
            let inverse = entities[destination].relationshipIndex(of: model.inverse),
            let own = entities[source].attributeIndexes(of: model.columns),
            let other = entities[destination].attributeIndexes(of: model.destinationColumns)
        else { return nil }
        let link: RelationshipRuntime.Link
        var position = model.orderedBy.flatMap { entities[destination].attributeIndex(of: $0) }
        if let helper = model.helper {
            guard let entity = positions[helper.entity],
                let toSource = entities[entity].attributeIndexes(of: helper.sourceColumns),
                let toDestination = entities[entity].attributeIndexes(of: helper.destinationColumns)
            else { return nil }
            position = model.orderedBy.flatMap { entities[entity].attributeIndex(of: $0) }
            let inversePosition = entities[destination].relationships[inverse].orderedBy
                .flatMap { entities[entity].attributeIndex(of: $0) }
            link = .helper(
                .init(
                    entity: entity,
                    sourceColumns: toSource,
                    source: own,
                    destinationColumns: toDestination,
                    destination: other,
                    pairColumns: toSource + toDestination.filter { !toSource.contains($0) },
                    positions: [(position, toSource), (inversePosition, toDestination)].compactMap {
                        position, columns in
                        position.map { ($0, columns) }
                    }
                )
            )
        } else if model.holdsForeignKey {
            link = .foreignKey(columns: own, referenced: other)
        } else {
            link = .referenced(referenced: own, columns: other)
        }
        return RelationshipRuntime(
            model: model,
            slot: slot,
            source: source,
            destination: destination,
            inverseSlot: inverse,
            link: link,
            position: position,
            // Views show rows as they are: only a table tells which rows foreign keys refer to.
            ownTable: RowTable(entities[source]),
            isComparedByServer: isComparedByServer(link, entities[source], entities[destination], schema)
        )
    }
}

extension SchemaRuntime {
    /// The same relationship from its other end.
    func inverse(_ relationship: RelationshipRuntime) -> RelationshipRuntime? {
        entities[relationship.destination].relationships.first { $0.slot == relationship.inverseSlot }
    }

    /// The rows that a change of a relationship writes, members' or the helper's, and the columns written.
    func writtenColumns(_ relationship: RelationshipRuntime) -> (entity: EntityRuntime, columns: [Int]) {
        guard case .helper(let link) = relationship.link else { return linkColumns(relationship) }
        return (entities[link.entity], link.pairColumns)
    }

    /// The rows that store a relationship, members' or the helper's, and the columns that reference their owner.
    func linkColumns(_ relationship: RelationshipRuntime) -> (entity: EntityRuntime, columns: [Int]) {
        switch relationship.link {
        case .helper(let link): (entities[link.entity], link.sourceColumns)
        case .referenced(_, let referencing): (entities[relationship.destination], referencing)
        case .foreignKey(_, let referenced): (entities[relationship.destination], referenced)
        }
    }
}
