import KindredSchema
import Synchronization

/// What is to be called before objects of plain entities are deleted, by entity.
final class DeletionHooks: Sendable {
    typealias Hook = @Sendable (DatabaseObject) async throws -> Void

    private let hooks = Mutex<[QualifiedName: [Hook]]>([:])

    func add(_ hook: @escaping Hook, for entity: QualifiedName) {
        hooks.withLock { $0[entity, default: []].append(hook) }
    }

    func hooks(for entity: QualifiedName) -> [Hook] {
        hooks.withLock { $0[entity] ?? [] }
    }
}

extension DatabaseContext {
    /// Whether something is to be called before rows of an entity are deleted.
    func hasDeletionHook(_ entity: Int) -> Bool {
        runtime.entities[entity].layout?.preparesForDeletion == true
            || !database.deletionHooks.hooks(for: runtime.entities[entity].name).isEmpty
    }

    func callDeletionHooks(_ object: DatabaseObject) async throws {
        try await object.prepareForDeletion()
        for hook in database.deletionHooks.hooks(for: object.runtime.name) { try await hook(object) }
    }
}
