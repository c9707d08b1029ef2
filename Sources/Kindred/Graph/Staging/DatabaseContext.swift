import KindredPostgres
public import KindredSchema
import Synchronization

/// A unit of work over a database: the objects it has handed out, one per row, and the relationships they have loaded.
///
/// Cheap to make: a server makes one per request. It caches only the objects that the program holds and the
/// relationships they have loaded. `Sendable`: any task may use it and its objects.
///
/// Hold it until staged changes are saved. When the last reference to it goes, unsaved changes are dropped, and the log
/// says so once, unless an error of a save has: objects that the program holds show the database's values again, and new
/// ones are discarded. Objects keep working without a context: they are read and written at once. To stage a change on
/// them is an error, `KindredError` `.contextReleased`.
public final class DatabaseContext: Sendable {
    package let core: ContextCore

    /// Only the core makes contexts, since it counts them.
    fileprivate init(_ core: ContextCore) { self.core = core }

    deinit { core.dropUnheld(released: 1) }

    /// The database that the context works on.
    public var database: Database { core.database }

    /// The effect of the first access to a relationship.
    public var loading: RelationshipLoading { core.loading }

    /// The model that the context was made with.
    public var schema: DatabaseSchema { core.runtime.schema }
}

extension ContextCore {
    /// The context that the program holds, or a new one if it holds none.
    package var context: DatabaseContext {
        held.withLock { held in
            if let context = held.context as? DatabaseContext { return context }
            let context = DatabaseContext(self)
            held.context = context
            held.count += 1
            return context
        }
    }

    /// Drops the staged changes if the program holds no context: none could save them, and they would stay in memory.
    ///
    /// - Parameter released: the number of contexts that have just been released.
    func dropUnheld(released: Int = 0) {
        // Counted under the lock of the staged changes, so that changes staged on a context that is made meanwhile stay. The
        // objects are released after it: their `deinit` may run arbitrary code.
        let dropped: (changes: StagedChanges, new: [(DatabaseObject, Int64)])? = staged.withLock { staged in
            let isHeld = held.withLock { held in
                held.count -= released
                return held.count > 0
            }
            if isHeld || staged.isEmpty { return nil }
            let changes = staged.takeAll()
            let new = changes.objects.compactMap { object in
                object.withState { $0.dropStaging() }.map { (object, $0) }
            }
            return (changes, new)
        }
        guard let dropped else { return }
        for (object, number) in dropped.new {
            withMap { $0.remove(object, of: object.runtime, key: .temporary(number)) }
        }
        if isLossKnown.exchange(false, ordering: .relaxed) { return }
        let first = dropped.changes.objects.first.map { "the first of \($0.runtime.name)" }
        database.mistakes.warn(
            ofRequest: """
                Unsaved changes (\(first ?? "a pair of a many-to-many relationship")) are lost, because their context was \
                released: hold the context until they are saved, or roll them back
                """)
    }
}

extension DatabaseObject {
    /// The context that the object belongs to.
    ///
    /// Objects do not hold it. If the program does not either, this is a new one with the same objects; hold it to stage
    /// changes.
    public var context: DatabaseContext { core.context }

    /// Runs a public call that was made at a place in the program.
    ///
    /// The context is held to the end, if the program holds one, so that the staged changes of the call last as long.
    package func called<T>(
        at fileID: String, _ line: Int, _ body: (ContextCore) async throws -> T
    ) async rethrows -> T {
        let context = core.heldContext
        defer { withExtendedLifetime(context) {} }
        return try await core.database.client.called(at: fileID, line) { try await body(core) }
    }
}
