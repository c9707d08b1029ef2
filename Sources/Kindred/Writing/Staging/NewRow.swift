import KindredPostgres
import KindredSchema
import Synchronization

/// The values of a new object: encoded attributes, and the other ends of relationships.
struct NewRow {
    typealias Link = (relationship: RelationshipRuntime, value: (any PropertyValue)?)

    var cells = RowCells()
    private(set) var links: [Link] = []

    mutating func assign(
        _ values: [String: (any PropertyValue)?], of entity: EntityRuntime, in core: ContextCore
    ) throws {
        let types = core.types
        cells.reserveCapacity(values.count)
        for (key, value) in values {
            if let position = entity.attributeIndex(of: key) {
                try assign(consume value, at: position, of: entity, types)
            } else if let relationship = entity.relationship(named: key) {
                try assign(consume value, to: relationship, of: entity, in: core)
            } else {
                throw entity.unknownKey(key)
            }
        }
    }

    /// Assigns the values of a typed class's properties, which need no look-up by name.
    mutating func assign(
        _ values: [NumberedValue], of entity: EntityRuntime, _ layout: TypedLayout, in core: ContextCore
    )
        throws
    {
        let types = core.types
        cells.reserveCapacity(values.count)
        for given in values {
            let position = layout.positions[given.number]
            if position >= 0 {
                try assign(given.value, at: position, of: entity, types)
            } else if let relationship = layout.relationships[given.number] {
                try assign(given.value, to: relationship, of: entity, in: core)
            }
        }
    }

    private mutating func assign(
        _ value: consuming (any PropertyValue)?, at position: Int, of entity: EntityRuntime, _ types: TypeRegistry?
    ) throws {
        if !entity.isAssignable(position) {
            let attribute = entity.entity.attributes[position]
            try entity.requireWritable(attribute, key: attribute.name)
        }
        try cells.set(try entity.attributeValue(consume value, at: position), at: position, of: entity, types)
    }

    private mutating func assign(
        _ value: (any PropertyValue)?, to relationship: RelationshipRuntime, of entity: EntityRuntime,
        in core: ContextCore
    ) throws {
        if let id = value as? ObjectID, relationship.holdsForeignKey,
            case .values(let values) = try RelationshipValues(core).identified(id, for: relationship)
        {
            try assignKey(values, of: relationship, in: entity, core)
        } else {
            links.append((relationship, value))
        }
    }

    /// Adds the values of a foreign key whose object is not in memory.
    private mutating func assignKey(
        _ values: [PostgresValue], of relationship: RelationshipRuntime, in entity: EntityRuntime, _ core: ContextCore
    ) throws {
        let types = core.types
        let columns = relationship.ownColumns
        let written = entity.writtenColumns(of: columns, isNew: true)
        for (column, value) in zip(columns, values) {
            try core.requireTenant(value, in: column, of: entity, key: relationship.model.name)
            guard written.contains(column) else { continue }
            try entity.requireGiven([column], key: relationship.model.name)
            var other = RowCells()
            try other.set(value, at: column, of: entity, types)
            if cells.columns.contains(column), !cells.hasSameBytes(as: other, at: column) {
                let (name, key) = (entity.entity.attributes[column].name, relationship.model.name)
                throw KindredError(
                    .wrongType, "Two keys give \(entity.name).\(name) different values",
                    entity: entity.name.description, key: key)
            }
            try cells.set(value, at: column, of: entity, types)
        }
    }
}

/// A value of a property of a typed class, by the property's number in the class's mapping.
struct NumberedValue: Sendable {
    let number: Int
    var value: (any PropertyValue)?
}

/// Numbers for the keys of new objects, unique in the process.
enum TemporaryKey {
    private static let last = Atomic<Int64>(0)

    static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
