import Kindred
import KindredPostgres
import KindredSchema

/// Thrown by `ChangeSubscriber.evaluate` where its statements no longer fit the tables: the model is read again, all subscribers adapt
/// to it, and the step is run again.
struct ModelIsOutdated: Error {}

/// A part of the process that follows the database's changes: live requests, contexts that track.
///
/// The reader calls it step by step, one subscriber after the other. A step is a transaction of REPEATABLE READ in which the
/// records since the last cursor are read; whatever the subscriber asks in `evaluate` is answered by the same snapshot.
protocol ChangeSubscriber: AnyObject, Sendable {
    /// The settings with which its questions run, in a savepoint apart from other subscribers' questions.
    var settings: SessionSettings { get }

    /// Whether it sends questions of its own in a step.
    var asks: Bool { get }

    /// Called before each step, before its transaction begins.
    func prepare()

    /// Called in each step, in the step's transaction: sends the subscriber's questions, over `Database.client`, each by
    /// `ChangeReader.ask`.
    ///
    /// In the subscriber's first step `batch` is nil: it begins at this snapshot, and misses nothing from here on. It
    /// is not called for a step that changed nothing unless the subscriber wants it (`wantsStep`): then the batch is
    /// without changes. If the step's connection is lost, the step is run again with a batch that may be larger:
    /// earlier results of `evaluate` are void. An error of it ends the step, and takes the subscriber out, with `fail`,
    /// unless a later step may succeed: see `StepRetries`. Must not make other subscribers wait for its own consumers.
    func evaluate(_ batch: CommittedBatch?, at cursor: ChangeCursor) async throws

    /// Returns when questions that it has sent apart from steps have their answers.
    func catchUp() async throws

    /// Called outside of steps where tables have changed, before the step that tells of it: goes on by the present tables, or
    /// ends where a question cannot be asked any more, see `PresentTables`.
    ///
    /// - Parameter hasFailed: whether its own `evaluate` has thrown `ModelIsOutdated`.
    func adapt(to tables: PresentTables, hasFailed: Bool) async throws

    /// Called after the step's end, when no crash of the server can take back the changes that it has seen: the results
    /// of `evaluate` are good.
    func commit(at cursor: ChangeCursor)

    /// Called when the subscriber failed for good (an error of its own `evaluate` that is not a lost connection, or the
    /// database is closed). Not for an error of its first step, which `ChangeReader.add` throws.
    func fail(_ error: any Error)

    /// Whether it wants to hear of every table that is made, also of tables that concern no other.
    var hearsOfUnrelatedTables: Bool { get }

    /// Called after the model was read again, with the entities that are new, changed or gone.
    func schemaChanged(_ names: Set<QualifiedName>)

    /// Whether it wants to be evaluated in the next step even if nothing has changed, such as to ask for rows again.
    var wantsStep: Bool { get }
}

extension ChangeSubscriber {
    var settings: SessionSettings { .none }

    var asks: Bool { true }

    func prepare() {}

    func adapt(to tables: PresentTables, hasFailed: Bool) async throws {}

    func catchUp() async throws {}

    var hearsOfUnrelatedTables: Bool { false }

    func schemaChanged(_ names: Set<QualifiedName>) {}
}
