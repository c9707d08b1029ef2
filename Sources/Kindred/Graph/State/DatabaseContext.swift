import KindredPostgres
public import KindredSchema
import Synchronization

/// A unit of work over a database: the objects it has handed out, one per row, and the relationships they have loaded.
///
/// Cheap to make: a server makes one per request. It caches only the objects that the program holds and the
/// relationships they have loaded. `Sendable`: any task may use it and its objects.
///
/// Hold it until staged changes are saved. When the last reference to it goes, unsaved changes of objects that the
/// program does not hold are lost, and the log says so once, unless an error of a save has. Objects that the program
/// holds keep working and keep their staged changes.
public final class DatabaseContext: Sendable {
    let core: ContextCore

    /// Whether it is counted, and stages weakly held changes again.
    private let stagesAgain: Bool

    /// Only the core makes contexts, since it counts them.
    init(_ core: ContextCore, stagesAgain: Bool = true) { (self.core, self.stagesAgain) = (core, stagesAgain) }

    deinit { core.contextReleased(stagesAgain: stagesAgain) }

    /// The database that the context works on.
    public var database: Database { core.database }

    /// The effect of the first access to a relationship.
    public var faulting: FaultingMode { core.faulting }

    /// The model that the context was made with.
    public var schema: DatabaseSchema { core.runtime.schema }
}

/// The effect of the first access to an object's relationship, for a context.
public enum FaultingMode: Sendable, Hashable {
    /// Loads it for all objects that were read together; the default.
    case batch
    /// Loads it for that object alone.
    case off
    /// Is an error, `KindredError` `.faultingForbidden`, which names entity and relationship: prefetch the
    /// relationship. The same holds for `count`, `isEmpty` and `contains` of a set that is not loaded.
    case forbidden
}
