import KindredPostgres
import KindredSchema
import Synchronization

/// A class's properties resolved against its entity: positions instead of names, once per schema.
package final class TypedLayout: Sendable {
    package let objectClass: EntityClass
    /// The attribute's position of each property; -1 for relationships.
    let positions: [Int]
    /// The relationship of each property; nil for attributes.
    let relationships: [RelationshipRuntime?]
    /// The columns of the properties that are attributes.
    let columns: [Column]
    /// The columns of results that matched, the latest last, and the checks of their rows.
    let checkedResults = RankedMutex<[(result: RowColumns, checks: RowChecks)]>([], .leaf)

    /// A property's column.
    struct Column: Sendable {
        let position: Int
        let name: String
        let mayBeNull: Bool
        /// The column's type in results.
        let type: PostgresDataType
        let valueKind: String
        let reading: PropertyReading
    }

    /// The relationships by the keys of their properties.
    let propertyRelationships: [ServerText: RelationshipRuntime]
    /// The names of properties by the positions of their attributes.
    let attributeNames: [Int: String]
    /// The names of properties by the slots of their relationships.
    let relationshipNames: [Int: String]
    /// The attributes and relationships by the names of their properties.
    let fields: [ServerText: EntityField]

    private init(
        type: EntityClass,
        entity: Entity,
        positions: [Int],
        relationships: [RelationshipRuntime?]
    ) {
        objectClass = type
        propertyRelationships = Dictionary(
            zip(type.mapping.properties, relationships).compactMap { property, relationship in
                relationship.map { (ServerText(property.key), $0) }
            },
            uniquingKeysWith: { first, _ in first })
        self.positions = positions
        self.relationships = relationships
        var (attributeNames, relationshipNames, fields) = (
            [Int: String](), [Int: String](), [ServerText: EntityField]()
        )
        for (property, (position, relationship)) in zip(type.mapping.properties, zip(positions, relationships)) {
            guard let name = property.name else { continue }
            if let relationship {
                relationshipNames[relationship.slot] = name
                fields[name] = .relationship(relationship)
            } else if property.isAttribute {
                attributeNames[position] = name
                fields[name] = .attribute(position)
            }
        }
        (self.attributeNames, self.relationshipNames, self.fields) = (attributeNames, relationshipNames, fields)
        var columns: [Column] = []
        for (property, position) in zip(type.mapping.properties, positions) {
            guard case .attribute(let valueKind, let isOptional, let reading, _) = property.kind else { continue }
            let attribute = entity.attributes[position]
            columns.append(
                Column(
                    position: position,
                    name: attribute.name,
                    mayBeNull: isOptional,
                    type: attribute.isReadAsText ? .text : attribute.baseType,
                    valueKind: valueKind,
                    reading: reading
                ))
        }
        self.columns = columns
    }

    /// Resolves a class, or adds all mismatches to `problems`.
    static func resolve(
        _ type: EntityClass,
        for entity: Entity,
        relationships: [RelationshipRuntime],
        in classes: BoundClasses,
        problems: inout [String]
    ) -> TypedLayout? {
        let known = problems.count
        var positions: [Int] = []
        var found: [RelationshipRuntime?] = []
        for property in type.mapping.properties {
            let label = "\(entity.name).\(property.key)"
            let attribute = property.isAttribute ? entity.attributeIndex(of: property.key) : nil
            let model = property.isAttribute ? nil : classes.relationship(property.key, of: entity, type)
            let relationship = model.flatMap { model in relationships.first { $0.model === model } }
            positions.append(attribute ?? -1)
            found.append(relationship)
            if let attribute {
                problems += mismatches(property, entity.attributes[attribute], label: label)
            } else if let relationship {
                problems += mismatches(property, relationship.model, label: label, in: classes)
            } else {
                problems.append("\(label) is missing")
            }
        }
        guard problems.count == known else { return nil }
        return TypedLayout(type: type, entity: entity, positions: positions, relationships: found)
    }

    private static func mismatches(_ property: EntityMapping.Property, _ attribute: Attribute, label: String)
        -> [String]
    {
        guard case .attribute(let valueKind, let isOptional, _, let isLazy) = property.kind else { return [] }
        if attribute.isLazy, !isLazy { return ["\(label) is lazy, where the class has a plain property"] }
        if attribute.valueKind != valueKind {
            return ["\(label) is of the type \(attribute.typeName), where the class has \(valueKind)"]
        }
        return isOptional || attribute.isNotNull ? [] : ["\(label) may be NULL, where the class has no optional"]
    }

    private static func mismatches(
        _ property: EntityMapping.Property,
        _ relationship: Relationship,
        label: String,
        in classes: BoundClasses
    ) -> [String] {
        let destination: EntityClass.Reference
        switch property.kind {
        case .attribute: return []
        case .toMany(let type):
            guard relationship.isToMany else {
                return ["\(label) leads to one object at most, where the class has a set"]
            }
            destination = type
        case .toOne(let type, let isOptional):
            guard !relationship.isToMany else { return ["\(label) leads to many objects, where the class has one"] }
            guard isOptional || !relationship.isOptional else {
                return ["\(label) may lead to no object, where the class has no optional"]
            }
            destination = type
        }
        guard let registered = classes[relationship.destination], registered.isClass(destination) else {
            return ["\(label) leads to \(relationship.destination), for which \(destination) is not registered"]
        }
        return []
    }
}
