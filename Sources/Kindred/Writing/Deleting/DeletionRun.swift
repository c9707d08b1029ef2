import KindredPostgres
import KindredSchema
import Synchronization

/// A running deletion, bound to the task while hooks run, so that their deletions join it.
final class DeletionRun: Sendable {
    @TaskLocal static var current: DeletionRun?

    private let core: ContextCore
    /// Whether it marks rows, so that objects whose rows go are deleted by themselves.
    let isMarking: Bool
    private let outer: DeletionRun?
    private let requested = RankedMutex<[DatabaseObject]>([], .leaf)

    init(_ core: ContextCore, isMarking: Bool) {
        self.core = core
        self.isMarking = isMarking
        outer = Self.current
    }

    /// The running deletion in a context, if the task runs one of its hooks.
    static func current(in core: ContextCore) -> DeletionRun? {
        var run = current
        while let found = run, found.core !== core { run = found.outer }
        return run
    }

    /// Adds objects that a hook deletes.
    func request(_ objects: [DatabaseObject]) {
        for object in objects { object.markDeleting() }
        requested.withLock { $0 += objects }
    }

    /// The objects that hooks have added since the last call.
    func takeRequested() -> [DatabaseObject] {
        requested.withLock { objects in
            defer { objects = [] }
            return objects
        }
    }
}

extension DeletionSearch {
    /// Finds all rows to delete, and calls hooks, which may add more.
    mutating func findAll() async throws {
        let run = DeletionRun(core, isMarking: rules.isMarking)
        var called: [EntityRuntime: Int] = [:]
        do {
            while true {
                try await expand()
                let fresh = try takeFresh(&called)
                if fresh.isEmpty { break }
                for object in fresh {
                    try await DeletionRun.$current.withValue(run) { try await core.callDeletionHooks(object) }
                }
                for (entity, objects) in grouped(run.takeRequested()) {
                    let missing = Set(try await add(try objects.map { try $0.requireKey() }, of: entity))
                    if !missing.isEmpty {
                        throw try core.lost(objects.filter { $0.key.map(missing.contains) ?? false })
                    }
                }
            }
            markFound(false)
        } catch {
            markFound(false)
            keepObjects()
            throw error
        }
    }

    /// Called when the objects are not to be deleted, or only to be marked.
    func keepObjects() {
        for entity in found.keys {
            for object in core.withMap({ $0.objects(of: entity) }) {
                object.withState { if $0.status == .deleting { $0.status = .persistent } }
            }
        }
    }

    /// The objects whose hooks have not been called; from now on `isDeleted` is true for all objects found.
    private func takeFresh(_ called: inout [EntityRuntime: Int]) throws -> [DatabaseObject] {
        guard found.keys.contains(where: core.hasDeletionHook) else { return [] }
        markFound(true)
        var fresh: [DatabaseObject] = []
        for (entity, found) in found.sorted(by: { $0.key < $1.key }) {
            let keys = found.keys[(called[entity] ?? 0)...]
            called[entity] = found.keys.count
            if core.hasDeletionHook(entity) {
                let members = keys.enumerated().compactMap { position, key in
                    found.rows[key].map { Member(key: key, row: $0, position: Int32(clamping: position)) }
                }
                let group = FetchGroup(.members(members), askedAt: core.now)
                // The rows are locked, so that none is newer.
                fresh += members.compactMap { core.object($0, of: entity, group, askedAt: .forever) }
            }
            for key in keys {
                if let object = core.liveObject(entity, key) { object.markDeleting() }
            }
        }
        return fresh
    }

    private func markFound(_ isDeleting: Bool) {
        for (entity, found) in found { core.withMap { $0.setDeleting(isDeleting, of: entity, keys: found.keys) } }
    }
}
