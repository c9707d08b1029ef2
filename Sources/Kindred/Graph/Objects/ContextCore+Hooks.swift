import KindredPostgres

// Calls the methods of classes and the hooks of plain entities.
extension ContextCore {
    /// Calls `awakeFromFetch` for new objects of a result; runs without any lock.
    func awake(_ objects: [DatabaseObject], of entity: EntityRuntime) {
        let hooks = database.registeredHooks.hooks(for: entity)
        for object in objects {
            object.awakeFromFetch()
            for hook in hooks { hook.awakeFromFetch?(object) }
        }
    }

    /// Whether an entity's objects, of which `first` is one, have methods or hooks to call when they awake.
    func awakes(_ entity: EntityRuntime, _ first: DatabaseObject) -> Bool {
        type(of: first) != DatabaseObject.self || !database.registeredHooks.hooks(for: entity).isEmpty
    }

    /// Whether an entity's objects may have methods or hooks to call when they awake; to be asked before there is an
    /// object.
    func mayAwake(_ entity: EntityRuntime) -> Bool {
        entity.layout != nil || !database.registeredHooks.hooks(for: entity).isEmpty
    }

    func awakeFromInsert(_ object: DatabaseObject) {
        object.awakeFromInsert()
        for hook in database.registeredHooks.hooks(for: object.runtime) { hook.awakeFromInsert?(object) }
    }

    func callWillSave(_ object: DatabaseObject) {
        object.willSave()
        for hook in database.registeredHooks.hooks(for: object.runtime) { hook.willSave?(object) }
    }
}

extension ContextCore {
    /// Whether rows of an entity have a hook to call before their deletion.
    func hasDeletionHook(_ entity: EntityRuntime) -> Bool {
        entity.layout?.objectClass.preparesItsDeletion == true
            || database.registeredHooks.hooks(for: entity).contains { $0.prepareForDeletion != nil }
    }

    func callDeletionHooks(_ object: DatabaseObject) async throws {
        try await object.prepareForDeletion()
        for hook in database.registeredHooks.hooks(for: object.runtime) { try await hook.prepareForDeletion?(object) }
    }
}
