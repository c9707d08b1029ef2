import KindredPostgres
package import KindredSchema
import Synchronization

/// A schema prepared for use by contexts: immutable and shared; a refresh replaces it.
package final class SchemaRuntime: Sendable {
    package let schema: DatabaseSchema
    package let entities: [EntityRuntime]
    /// Whether views take part in any relationship.
    let hasViewRelationships: Bool
    /// Whether tables inherit from other tables, so that two tables show the same rows.
    let hasInheritance: Bool
    /// Whether Citus distributes tables.
    let isDistributed: Bool
    /// The sets with limits on their number of members; nil if there are none.
    let countLimits: CountLimits?
    /// The foreign keys of single partitions, by the entity that they reference.
    let partitionKeys: [EntityRuntime: [PartitionKeyRuntime]]
    private let positions: [QualifiedName: Int]
    /// The database's own actions when an entity's rows are deleted, by entity; filled on demand.
    let deletionClosures = RankedMutex<[EntityRuntime: DeletionClosure]>([:], .leaf)

    /// The entities' classes, bound to this schema.
    let classes: BoundClasses
    let registered: TypedClasses
    /// The entities of classes that fit, by class.
    private let entitiesByClass: [ObjectIdentifier: EntityRuntime]
    /// The mismatches of classes and schema.
    let mismatches: [String]

    /// Whether policies may hide rows from another role that they do not hide from the role that has read the model.
    private let mayHideMoreFromOthers: Bool
    /// The model for statements that run as another role; made on first use.
    private let ofOtherRole = RankedMutex<SchemaRuntime?>(nil, .leaf)

    /// The model for statements that run as a role; nil means the role that has read the model.
    func model(for role: String?) throws -> SchemaRuntime {
        guard role != nil, mayHideMoreFromOthers else { return self }
        if let known = ofOtherRole.withLock({ $0 }) { return known }
        let made = try SchemaRuntime(schema.ofOtherRole, classes: registered).checked(asIn: self)
        return ofOtherRole.withLock { known in
            let model = known ?? made
            known = model
            return model
        }
    }

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
        let others = schema.ofOtherRole
        mayHideMoreFromOthers = schema.entities.contains { others.hidesRows(of: $0) && !schema.hidesRows(of: $0) }
        isDistributed = schema.entities.contains(where: \.isDistributed)
        let shown = Set(schema.entities.flatMap(\.shownTables))
        let entities = schema.entities.enumerated().map { index, entity in
            EntityRuntime(
                entity: entity,
                index: index,
                shownEntities: (entity.shownTables + entity.relatives).compactMap { positions[$0] },
                isShown: shown.contains(entity.name),
                filter: schema.filters[entity.name],
                tenantColumn: entity.belongsToTenants ? schema.tenantColumn : nil,
                hidesRows: schema.hidesRows(of: entity),
                annotationError: schema.annotationErrors[entity.name]
            )
        }
        self.entities = entities
        partitionKeys = PartitionKeyRuntime.resolve(schema) { name in positions[name].map { entities[$0] } }
        let relationships = Self.relationships(entities, positions)
        var helperEnds: [EntityRuntime: [RelationshipRuntime]] = [:]
        for relationship in relationships.joined() {
            if let helper = relationship.helper { helperEnds[helper.entity, default: []].append(relationship) }
        }
        countLimits = CountLimits(relationships)
        var mismatches = classes.problems
        let constraintNames = schema.entities.reduce(into: Set<ServerText>()) { $0.formUnion($1.constraintNames) }
        for (entity, relationships) in zip(entities, relationships) {
            let layout = classes[entity.name].flatMap {
                TypedLayout.resolve(
                    $0, for: entity.entity, relationships: relationships, in: classes, problems: &mismatches)
            }
            entity.connect(
                EntityLinks(
                    entity, relationships, helperEnds: helperEnds[entity] ?? [], layout: layout,
                    constraintNames: constraintNames))
        }
        self.mismatches = mismatches
        entitiesByClass = Dictionary(
            entities.compactMap { entity in entity.layout.map { (ObjectIdentifier($0.objectClass.type), entity) } },
            uniquingKeysWith: { first, _ in first })
        var known = schema
        for case let (name, layout?) in entities.map({ ($0.name, $0.layout) }) {
            known.propertyRelationships[name] = layout.propertyRelationships.mapValues(\.model.name)
        }
        self.schema = known
    }

    /// The entity of a name: `person` follows the search path, `public.person` is exact.
    package func entity(named name: String) throws -> EntityRuntime {
        if let index = schema.index(named: name) { return try entities[index].used }
        let found: Entity
        do {
            found = try schema.entity(named: name)
        } catch let error as SchemaError {
            throw KindredError(.unknownEntity, error.message, entity: name)
        }
        if let runtime = self[found.name] { return try runtime.used }
        throw KindredError(.unknownEntity, "No entity is named \"\(name)\"", entity: name)
    }

    /// The entity of a class that fits it; nil for other classes.
    func entity(of type: EntityClass.Reference) -> EntityRuntime? { entitiesByClass[ObjectIdentifier(type)] }

    package subscript(name: QualifiedName) -> EntityRuntime? {
        positions[name].map { entities[$0] }
    }

    /// The entities and columns that a relationship names.
    private struct Ends {
        let destination: EntityRuntime
        let inverse: Relationship
        let own: [Int]
        let other: [Int]
        var helper: (entity: EntityRuntime, toSource: [Int], toDestination: [Int])?
    }

    private static func ends(
        of model: Relationship, from source: Entity, _ find: (QualifiedName) -> EntityRuntime?
    ) -> Ends? {
        guard let destination = find(model.destination),
            let inverse = destination.entity.relationship(named: model.inverse),
            let own = source.attributeIndexes(of: model.columns),
            let other = destination.entity.attributeIndexes(of: model.destinationColumns)
        else { return nil }
        var ends = Ends(destination: destination, inverse: inverse, own: own, other: other)
        if let helper = model.helper {
            guard let rows = find(helper.entity),
                let toSource = rows.entity.attributeIndexes(of: helper.sourceColumns),
                let toDestination = rows.entity.attributeIndexes(of: helper.destinationColumns)
            else { return nil }
            ends.helper = (rows, toSource, toDestination)
        }
        return ends
    }

    /// The relationships of each entity, except where it or its inverse has a name that the schema does not have.
    private static func relationships(
        _ entities: [EntityRuntime], _ positions: [QualifiedName: Int]
    ) -> [[RelationshipRuntime]] {
        var known: [ObjectIdentifier: Ends] = [:]
        for source in entities {
            for model in source.entity.relationships {
                known[ObjectIdentifier(model)] = ends(of: model, from: source.entity) {
                    positions[$0].map { entities[$0] }
                }
            }
        }
        // Each must have its inverse, so that following it back never fails.
        var count = 0
        repeat {
            count = known.count
            known = known.filter { known[ObjectIdentifier($0.value.inverse)] != nil }
        } while known.count < count
        let models = entities.map { $0.entity.relationships.filter { known[ObjectIdentifier($0)] != nil } }
        return entities.map { source in
            models[source.index].enumerated().compactMap { slot, model in
                guard let ends = known[ObjectIdentifier(model)],
                    let inverseSlot = models[ends.destination.index].firstIndex(where: { $0 === ends.inverse })
                else { return nil }
                let rows = (ends.helper?.entity ?? ends.destination).entity
                let position = model.orderedBy.flatMap { rows.attributeIndex(of: $0) }
                let holder = model.holdsForeignKey ? source.entity : rows
                let inversePosition = ends.inverse.orderedBy.flatMap { holder.attributeIndex(of: $0) }
                let link = ends.helper.map { helper in
                    RelationshipRuntime.HelperLink(
                        entity: helper.entity,
                        sourceColumns: helper.toSource,
                        destinationColumns: helper.toDestination,
                        positions: [
                            (position, helper.toSource),
                            (inversePosition, helper.toDestination),
                        ].compactMap { position, columns in position.map { ($0, columns) } }
                    )
                }
                return RelationshipRuntime(
                    model: model, slot: slot, source: source, destination: ends.destination, inverseSlot: inverseSlot,
                    helper: link, position: position,
                    inversePosition: model.holdsForeignKey ? inversePosition : nil, ownColumns: ends.own,
                    otherColumns: ends.other)
            }
        }
    }
}
