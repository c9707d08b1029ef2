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
                try entity.requireWritable(entity.entity.attributes[position], key: key)
                try cells.set(
                    try entity.attributeValue(value, at: position), at: position, of: entity, types)
            } else if let relationship = entity.relationship(named: key) {
                if let id = value as? ObjectID, relationship.holdsForeignKey,
                    case .values(let values) = try RelationshipValues(core).identified(id, for: relationship)
                {
                    try assignKey(values, of: relationship, in: entity, types)
                } else {
                    links.append((relationship, value))
                }
            } else {
                throw entity.unknownKey(key)
            }
        }
    }

    /// Adds the values of a foreign key whose object is not in memory.
    private mutating func assignKey(
        _ values: [PostgresValue], of relationship: RelationshipRuntime, in entity: EntityRuntime,
        _ types: TypeRegistry?
    ) throws {
        let columns = relationship.ownColumns
        let written = entity.writtenColumns(of: columns, isNew: true)
        for (column, value) in zip(columns, values) where written.contains(column) {
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

/// Numbers for the keys of new objects, unique in the process.
enum TemporaryKey {
    private static let last = Atomic<Int64>(0)

    static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
