extension DatabaseContext {
    /// Makes a new object in memory, to be stored by `save()`; `create(_:_:)` stores at once.
    ///
    /// Until it is saved it has a temporary ID, shows its given values, and NULL for values that the database assigns.
    /// `values` may hold attributes, to-one relationships, and arrays of objects for to-many relationships; new objects
    /// among them are stored with it, in the right order. Sends nothing. Throws `KindredError`: `.unknownEntity`,
    /// `.unknownKey`, `.wrongType`, `.readOnly`.
    @discardableResult
    public func add(
        _ entityName: String,
        _ values: [String: (any PropertyValue)?] = [:]
    ) throws -> DatabaseObject {
        try Stager(core).insert(try core.runtime.entity(named: entityName), values)
    }

    /// Whether anything is staged that `save()` would write.
    public var hasStagedChanges: Bool { core.hasStagedChanges }

    /// Takes back all unsaved changes; the objects show the database's values, as last seen.
    ///
    /// New objects are discarded: from then on they refuse use, as deleted objects do. Sends nothing.
    public func rollback() { core.rollback() }

    /// Stages the deletion of an object: `save()` deletes it after everything else, with its delete rules.
    ///
    /// Until then the object and its sets stay unchanged; `isDeletionStaged` tells, and `rollback()` takes it back. A
    /// new object is discarded at once. Sends nothing; `delete(_:)` deletes at once. Throws `KindredError`
    /// `.objectDeleted`, `.readOnly`, `.foreignContext`.
    public func stageDeletion(of object: DatabaseObject) throws { try core.stageDeletion(of: object) }
}
