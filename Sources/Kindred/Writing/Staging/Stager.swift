import KindredPostgres
import KindredSchema
import Synchronization

/// Stages changes that take new objects, and links to them: in memory, to be written by `save()`.
struct Stager: Sendable {
    let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// Makes a new object in memory.
    func insert(_ entity: EntityRuntime, _ values: [String: (any PropertyValue)?]) throws -> DatabaseObject {
        try insert(entity) { try $0.assign(values, of: entity, in: core) }
    }

    /// Makes a new object of a typed class in memory.
    func insert(_ entity: EntityRuntime, _ values: [NumberedValue], by layout: TypedLayout) throws -> DatabaseObject {
        try insert(entity) { try $0.assign(values, of: entity, layout, in: core) }
    }

    private func insert(_ entity: EntityRuntime, _ assign: (inout NewRow) throws -> Void) throws -> DatabaseObject {
        var new = NewRow()
        if let version = entity.version, let value = version.initialValue {
            try new.cells.set(value, at: version.position, of: entity, core.types)
        }
        if let column = entity.tenantColumn, let tenant = core.tenant {
            try new.cells.set(tenant.value, at: column, of: entity, core.types)
        }
        try assign(&new)
        let object = try insert(new.cells, of: entity)
        if new.links.isEmpty { return object }
        do {
            try stageOnNew(object, new.links, displacing: false)
        } catch {
            core.rollback([object])
            throw error
        }
        return object
    }

    /// A new object of an entity, with the values of attributes.
    private func insert(_ cells: RowCells, of entity: EntityRuntime) throws -> DatabaseObject {
        try core.requireWritable()
        guard !entity.entity.isReadOnly, !entity.key.isEmpty else {
            throw entity.notWritable
        }
        let number = TemporaryKey.next()
        let empty = entity.emptyRow(core.types)
        // `awakeFromInsert` sees the object without its values.
        let isCalled = core.mayAwake(entity)
        // An empty row has values only where it names the table of a new row.
        let row = entity.rowTable == nil ? cells.row(empty.columns) : empty.replacing(cells)
        let filled = StagingBox(Staging(stored: empty, columns: cells.columns, temporaryKey: number))
        let staging = isCalled ? StagingBox(Staging(stored: empty, temporaryKey: number)) : filled
        let object = core.make(
            ObjectSeed(core: core, runtime: entity, row: isCalled ? empty : row, staging: staging))
        core.withMap { _ = $0.insert(object, of: entity, key: .temporary(number)) }
        core.staged.withLock { $0.insert(object) }
        core.journal?.recordCreated(object)
        if isCalled {
            core.awakeFromInsert(object)
            // A hook that has staged nothing leaves the object as it was made: the values need no change of their own.
            guard object.fill(row, filled, over: staging) else {
                object.stage(cells)
                return object
            }
            core.staged.withLock { $0.noteChange() }
        }
        return object
    }

    /// Gives a new object values: all attributes at once, since each change allocates a row, then the relationships.
    ///
    /// The former partners of one-to-one relationships leave; a partner that is not in memory is read first.
    func stageOnNew(_ object: DatabaseObject, _ given: [String: (any PropertyValue)?]) async throws {
        try object.requireStageable()
        var values = given
        for (key, value) in given {
            guard object.runtime.attributeIndex(of: key) == nil,
                let relationship = object.runtime.relationship(named: key), relationship.model.kind == .oneToOne
            else { continue }
            let read = try await RelationshipValues(core).reading(value, for: relationship, needsObject: true)
            values.updateValue(read, forKey: key)
            guard let partner = try RelationshipValues(core).member(read, of: relationship) else { continue }
            try await readPartner(of: partner, relationship.inverse)
        }
        var new = NewRow()
        try new.assign(values, of: object.runtime, in: core)
        if !new.cells.columns.isEmpty { object.stage(new.cells) }
        try stageOnNew(object, new.links)
    }

    /// - Parameter displacing: whether partners leave that the objects had in one-to-one relationships. An object that is made
    ///   with a partner takes no other's place: the save refuses it, unless that one leaves in the same save.
    private func stageOnNew(_ object: DatabaseObject, _ links: [NewRow.Link], displacing: Bool = true) throws {
        for link in links.sorted(by: { $0.relationship.slot < $1.relationship.slot }) {
            try stageOnNew(object, link.value, for: link.relationship, displacing: displacing)
        }
    }

    /// Gives a new object a value for a relationship of any kind.
    private func stageOnNew(
        _ object: DatabaseObject, _ value: (any PropertyValue)?, for relationship: RelationshipRuntime,
        displacing: Bool
    ) throws {
        if relationship.isToMany {
            let members = try RelationshipValues(core).stageableMembers(value, of: relationship)
            try stageReplace(members, of: object, relationship)
        } else {
            let partner = try RelationshipValues(core).member(value, of: relationship)
            try stagePartner(partner, of: object, relationship, displacing: displacing)
        }
    }

    /// Sets a to-one relationship from either side as a staged change.
    private func stagePartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime,
        displacing: Bool = true
    ) throws {
        if relationship.holdsForeignKey {
            return try stageDestination(partner, of: object, relationship, displacing: displacing)
        }
        let inverse = relationship.inverse
        let others = stagedMembers(of: relationship, object).filter { $0 !== partner }
        for other in others { try requireDestination(nil, of: other, inverse) }
        if let partner { try requireDestination(object, of: partner, inverse) }
        for other in others { try stageDestination(nil, of: other, inverse) }
        if let partner { try stageDestination(object, of: partner, inverse) }
    }

    /// Sets a one-to-one relationship with a new end; reads the partners that it displaces first.
    func stageNewPartner(
        _ partner: DatabaseObject?,
        of object: DatabaseObject,
        _ relationship: RelationshipRuntime
    ) async throws {
        let inverse = relationship.inverse
        let former = try await readPartner(of: object, relationship)
        if let partner { try await readPartner(of: partner, inverse) }
        if relationship.destinationHoldsForeignKey, let old = former, old !== partner {
            if let partner { try requireDestination(object, of: partner, inverse) }
            try stageDestination(nil, of: old, inverse)
        }
        try stagePartner(partner, of: object, relationship)
    }

    /// The partner that an object has in a one-to-one relationship, which is in memory from then on; a new object has
    /// only a staged partner.
    @discardableResult
    private func readPartner(
        of object: DatabaseObject, _ relationship: RelationshipRuntime
    ) async throws -> DatabaseObject? {
        if object.isInserted { return nil }
        return try await PrimaryReads.run { try await Loader(core).destination(of: relationship, from: object) }
    }

    /// An object's new values that are new objects, with their relationships, by key.
    func newDestinations(
        _ values: [String: (any PropertyValue)?],
        of object: DatabaseObject
    ) throws -> [ServerText: (RelationshipRuntime, DatabaseObject)] {
        var found: [ServerText: (RelationshipRuntime, DatabaseObject)] = [:]
        for (key, value) in values {
            guard object.runtime.attributeIndex(of: key) == nil,
                let relationship = object.runtime.relationship(named: key),
                relationship.holdsForeignKey, case .object(let new) = try value?.propertyContent, new.isInserted
            else { continue }
            _ = try RelationshipValues(core).member(value, of: relationship)
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
