import KindredPostgres
import KindredSchema
import Synchronization

extension DatabaseContext {
    /// Makes a new object in memory, to be stored by `save()`; `create(_:_:)` stores at once.
    ///
    /// Until it is saved it has a temporary ID, shows its given values, and NULL for values that the database assigns.
    /// `values` may hold attributes, to-one relationships, and arrays of objects for to-many ones; new objects among
    /// them are stored with it, in the right order. Sends nothing. Throws `KindredError`: `.unknownEntity`,
    /// `.unknownKey`, `.wrongType`, `.readOnly`.
    @discardableResult
    public func insert(
        _ entityName: String,
        _ values: [String: (any PropertyValue)?] = [:]
    ) throws -> DatabaseObject {
        let entity = try core.runtime.entity(named: entityName)
        var new = NewRow()
        if let version = entity.version, let value = version.initialValue {
            try new.cells.set(value, at: version.position, of: entity, client.types)
        }
        try new.assign(values, entity, self)
        let object = try insert(entity, new.cells)
        if new.links.isEmpty { return object }
        do {
            try stageOnNew(object, new.links)
        } catch {
            core.rollback([object])
            throw error
        }
        return object
    }

    /// A new object of an entity, with the values of attributes.
    private func insert(_ entity: EntityRuntime, _ cells: RowCells) throws -> DatabaseObject {
        guard !entity.entity.isReadOnly, !entity.key.isEmpty else {
            throw entity.notWritable
        }
        let number = TemporaryKey.next()
        let empty = entity.emptyRow(client.types)
        // `awakeFromInsert` sees the object without its values.
        let isCalled = core.mayAwake(entity)
        let staging = Staging(stored: empty, columns: isCalled ? [] : cells.columns, temporaryKey: number)
        // An empty row has values only where it names the table of a new row.
        let row = isCalled ? empty : entity.rowTable == nil ? cells.row(empty.columns) : empty.replacing(cells)
        let object = core.make(
            ObjectSeed(core: core, runtime: entity, row: row, staging: StagingBox(staging)))
        let isLinked = core.withMap { map in
            map.insert(object, entity, .temporary(number))
            return map.knowsAny(linkedTo: entity)
        }
        core.staged.withLock { $0.insert(object) }
        core.journal?.recordCreated(object)
        if isCalled {
            core.awakeFromInsert(object)
            object.stage(cells)
        } else if isLinked {
            core.noteChange(
                of: object, .temporary(number), from: RowLinks(empty), to: object.withState { RowLinks($0) })
        }
        return object
    }

    /// Gives a new object values: all attributes at once, since each change allocates a row, then the relationships.
    func stageOnNew(_ object: DatabaseObject, _ values: [String: (any PropertyValue)?]) throws {
        try object.requireStageable()
        var new = NewRow()
        try new.assign(values, object.runtime, self)
        if !new.cells.columns.isEmpty { object.stage(new.cells) }
        try stageOnNew(object, new.links)
    }

    private func stageOnNew(_ object: DatabaseObject, _ links: [NewRow.Link]) throws {
        for link in links.sorted(by: { $0.relationship.slot < $1.relationship.slot }) {
            try stageOnNew(object, link.value, for: link.relationship)
        }
    }

    /// Gives a new object a value for a relationship of any kind.
    func stageOnNew(
        _ object: DatabaseObject, _ value: (any PropertyValue)?, for relationship: RelationshipRuntime
    ) throws {
        if relationship.isToMany {
            let members = try stageableMembers(value, of: relationship)
            try stageReplace(members, of: object, relationship)
        } else {
            try stagePartner(try member(value, of: relationship), of: object, relationship)
        }
    }

    /// Sets a to-one relationship from either side as a staged change.
    func stagePartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        if relationship.holdsForeignKey { return try stageDestination(partner, of: object, relationship) }
        let inverse = relationship.inverse
        let others = stagedMembers(of: relationship, object).filter { $0 !== partner }
        for other in others { try requireDestination(nil, of: other, inverse) }
        if let partner { try requireDestination(object, of: partner, inverse) }
        for other in others { try stageDestination(nil, of: other, inverse) }
        if let partner { try stageDestination(object, of: partner, inverse) }
    }

    /// Sets a one-to-one relationship of which one end is new; reads the partners that it displaces first.
    func stageNewPartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) async throws {
        let inverse = relationship.inverse
        if !object.isInserted { _ = try await destination(of: relationship, from: object) }
        if let partner, !partner.isInserted { _ = try await destination(of: inverse, from: partner) }
        if !object.isInserted, relationship.destinationHoldsForeignKey,
            let old = try await destination(of: relationship, from: object), old !== partner
        {
            if let partner { try requireDestination(object, of: partner, inverse) }
            try stageDestination(nil, of: old, inverse)
        }
        try stagePartner(partner, of: object, relationship)
    }

    /// An object's new values that are new objects, with their relationships, by key.
    func newDestinations(
        _ values: [String: (any PropertyValue)?],
        of object: DatabaseObject
    ) throws -> [String: (RelationshipRuntime, DatabaseObject)] {
        var found: [String: (RelationshipRuntime, DatabaseObject)] = [:]
        for (key, value) in values {
            guard object.runtime.attributeIndex(of: key) == nil,
                let relationship = object.runtime.relationship(named: key),
                relationship.holdsForeignKey, case .object(let new) = try value?.propertyContent, new.isInserted
            else { continue }
            _ = try member(value, of: relationship)
            found[key] = (relationship, new)
        }
        return found
    }

    /// Throws if objects cannot become the only staged members of a relationship.
    func requireReplace(
        _ members: [DatabaseObject], of owner: DatabaseObject, _ relationship: RelationshipRuntime
    ) throws {
        let known = stagedMembers(of: relationship, owner)
        let (wanted, old) = (Set(members), Set(known))
        try requireLeave(known.filter { !wanted.contains($0) }, from: owner, relationship)
        try requireJoin(members.filter { !old.contains($0) }, to: owner, relationship)
    }

    /// Makes objects the only staged members of a relationship; a new owner's members get their order.
    func stageReplace(
        _ members: [DatabaseObject],
        of owner: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) throws {
        let known = stagedMembers(of: relationship, owner)
        let (wanted, old) = (Set(members), Set(known))
        try stageLeave(known.filter { !wanted.contains($0) }, from: owner, relationship)
        try stageJoin(members.filter { !old.contains($0) }, to: owner, relationship)
        if owner.isInserted { try stageOrder(members, of: owner, relationship) }
    }
}

/// The values of a new object: encoded attributes, and the other ends of relationships.
private struct NewRow {
    typealias Link = (relationship: RelationshipRuntime, value: (any PropertyValue)?)

    var cells = RowCells()
    private(set) var links: [Link] = []

    mutating func assign(
        _ values: [String: (any PropertyValue)?], _ entity: EntityRuntime, _ context: DatabaseContext
    ) throws {
        let types = context.client.types
        cells.reserveCapacity(values.count)
        for (key, value) in values {
            if let position = entity.attributeIndex(of: key) {
                try entity.requireWritable(entity.entity.attributes[position], key: key)
                try cells.set(
                    try entity.attributeValue(value, at: position), at: position, of: entity, types)
            } else if let relationship = entity.relationship(named: key) {
                if let id = value as? ObjectID, relationship.holdsForeignKey,
                    case .values(let values) = try context.identified(id, for: relationship)
                {
                    try assignKey(values, relationship, entity, types)
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
        _ values: [PostgresValue], _ relationship: RelationshipRuntime, _ entity: EntityRuntime, _ types: TypeRegistry?
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
