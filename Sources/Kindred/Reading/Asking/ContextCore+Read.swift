import KindredPostgres
import KindredSchema
import Synchronization

/// Reads that a write depends on, which go to the primary: a replica may not have the latest rows yet.
enum PrimaryReads {
    @TaskLocal fileprivate static var areWanted = false

    /// Runs `body`, whose reads go to the primary.
    static func run<T>(_ body: () async throws -> T) async rethrows -> T {
        try await $areWanted.withValue(true, operation: body)
    }
}

// The door for reads that a replica may answer. Statements that are sent over the core's client go to the primary.
extension ContextCore {
    /// Runs a query generated from the model, on a replica where the context allows it.
    ///
    /// Throws `KindredError` if the statement does not fit the database, or the role may not run it.
    @inline(__always)
    func read(_ statement: Statement, for entity: QualifiedName) async throws -> QueryResult {
        guard let reads else { return try await client.execute(statement, for: entity) }
        do {
            return try await reads.read(statement, over: client, notOnReplica: reasonForPrimary)
        } catch let error as PostgresError {
            throw KindredError(rejectedStatement: error, entity: entity) ?? error
        }
    }

    /// Runs queries in one round trip, on a replica where the context allows it.
    func read(_ statements: [Statement], _ entity: EntityRuntime) async throws -> [QueryResult] {
        guard let reads else { return try await client.send(statements, entity) }
        do {
            return try await reads.read(statements, over: client, notOnReplica: reasonForPrimary)
        } catch let error as PostgresError {
            throw KindredError(rejectedStatement: error, entity: entity.name) ?? error
        }
    }

    /// A cursor for a query, on a replica where the context allows it.
    func cursor(_ statement: Statement) -> RoutedCursor {
        RoutedCursor(statement, by: reads, over: client, notOnReplica: reads == nil ? nil : reasonForPrimary)
    }

    /// Why a read cannot go to a replica; nil if it may.
    var reasonForPrimary: ReadMetrics.Reason? {
        if following != nil { return .tracking }
        if PrimaryReads.areWanted { return .write }
        return staged.withLock { $0.isEmpty } ? nil : .stagedChanges
    }
}

extension KindredError {
    /// The error of a stream whose first rows the program has.
    init(_ conflict: ReplicaConflict, entity: QualifiedName) {
        self.init(
            .replicaConflict,
            """
            The replica failed, or cancelled the query because it was in the way of its replay, after the first rows: begin the \
            stream again, or read it on the primary
            """,
            entity: entity.description, underlying: conflict.error)
    }
}
