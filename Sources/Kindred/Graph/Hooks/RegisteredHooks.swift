import KindredSchema
import Synchronization

/// The hooks of plain entities, by entity; asking costs one atomic load as long as there are none.
final class RegisteredHooks: Sendable {
    private let isEmpty = Atomic(true)
    private let hooks = Mutex<[QualifiedName: [ObjectHooks]]>([:])

    func add(_ added: ObjectHooks, for entity: QualifiedName) {
        hooks.withLock { $0[entity, default: []].append(added) }
        isEmpty.store(false, ordering: .releasing)
    }

    func hooks(for entity: EntityRuntime) -> [ObjectHooks] {
        if isEmpty.load(ordering: .acquiring) { return [] }
        return hooks.withLock { $0[entity.name] ?? [] }
    }
}

extension DatabaseContext {
    /// Tells new objects of a result that they are there; called without any lock.
    func awake(_ objects: [DatabaseObject], of entity: EntityRuntime) {
        let hooks = database.registeredHooks.hooks(for: entity)
        for object in objects {
            object.awakeFromFetch()
            for hook in hooks { hook.awakeFromFetch?(object) }
        }
    }

    /// Whether objects of an entity have methods or hooks to be called in their life.
    func awakes(_ entity: EntityRuntime, _ first: DatabaseObject) -> Bool {
        type(of: first) != DatabaseObject.self || !database.registeredHooks.hooks(for: entity).isEmpty
    }

    /// Whether objects of an entity, none of which is at hand, may have methods or hooks to be called in their life.
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
