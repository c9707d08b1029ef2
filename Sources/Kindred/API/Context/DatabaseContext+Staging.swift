extension DatabaseContext {
    /// Whether there are unsaved changes.
    public var hasChanges: Bool { core.hasChanges }

    /// Takes back all unsaved changes; the objects show the database's values, as last seen.
    ///
    /// New objects are discarded: from then on they refuse use, as deleted ones do. Sends nothing.
    public func rollback() { core.rollback() }

    /// Stages the deletion of an object: `save()` deletes it after everything else, with its delete rules.
    ///
    /// Until then the object and its sets stay unchanged; `isDeletionStaged` tells, and `rollback()` takes it back. A
    /// new object is discarded at once. Sends nothing; `delete(_:)` deletes at once. Throws `KindredError`
    /// `.objectDeleted`, `.readOnly`, `.foreignContext`.
    public func stageDeletion(of object: DatabaseObject) throws { try core.stageDeletion(of: object) }
}
