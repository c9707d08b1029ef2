public import Kindred
import KindredSchema

// Committed changes of other contexts, processes and clients.
extension DatabaseContext {
    /// The changes of some entities' rows by all clients, from a cursor on, or from now on.
    ///
    /// ```swift
    /// let changes = try await context.changes(of: Person.self, Email.self)
    /// save(changes.cursor)   // nothing is missed from here on
    /// for try await element in changes { … }
    /// ```
    ///
    /// All sequences of a database are read together, over one connection. Objects of the context do not follow.
    ///
    /// - Parameters:
    ///   - types: the classes of the entities.
    ///   - cursor: where to go on, from this process or another.
    ///   - limit: the number of changed rows that wait for a slow consumer; above it one element says that everything may
    ///     have changed.
    /// - Throws: `KindredError` `.trackingNotEnabled` naming all tables whose changes are not recorded,
    ///   `.trackingNotInstalled`, `.trackingVersion`, `.trackingOnStandby`; `.untrackable` for entities without a key and for
    ///   views; `.accessDenied` if a row-level security policy applies to the role, or if it may not read all columns;
    ///   `.invalidRequest` without an entity, and in a context with settings or of a tenant, before anything is sent.
    public func changes(
        of types: any TypedObject.Type..., since cursor: ChangeCursor? = nil, bufferingAtMost limit: Int = 100_000
    ) async throws -> ChangeSequence {
        try core.requireNoSettings(for: "changes(of:)")
        return try await ChangeFollower(database).changes(
            of: types.map { try entity(of: $0) }, since: cursor, limit: limit)
    }

    /// The changes of some entities' rows, which are given by name.
    public func changes(
        of names: String..., since cursor: ChangeCursor? = nil, bufferingAtMost limit: Int = 100_000
    ) async throws -> ChangeSequence {
        try await changes(of: names, since: cursor, bufferingAtMost: limit)
    }

    /// The changes of some entities' rows, which are given by name.
    public func changes(
        of names: [String], since cursor: ChangeCursor? = nil, bufferingAtMost limit: Int = 100_000
    ) async throws -> ChangeSequence {
        try core.requireNoSettings(for: "changes(of:)")
        let entities = try names.map { try core.runtime.entity(named: $0) }
        return try await ChangeFollower(database).changes(of: entities, since: cursor, limit: limit)
    }

    /// The changes of some entities' rows for a consumer whose cursor is kept in the database.
    ///
    /// The first time it begins now, later where it last acknowledged. Several processes may have the same consumer; of two
    /// that acknowledge the same batch one gets an error.
    ///
    /// - Parameters:
    ///   - types: the classes of the entities.
    ///   - consumer: the name of the consumer, one for the whole database.
    ///   - hold: how long records wait for the consumer after it was last heard of. The outbox grows meanwhile.
    ///   - limit: the number of changed rows that wait for a slow consumer.
    /// - Throws: as `changes(of:since:)`; `.invalidRequest` for a hold of less than a second.
    public func changes(
        of types: any TypedObject.Type..., consumer: String, hold: Duration = .seconds(7 * 86_400),
        bufferingAtMost limit: Int = 100_000
    ) async throws -> ChangeSequence.Acknowledged {
        try core.requireNoSettings(for: "changes(of:)")
        return try await ChangeFollower(database).changes(
            of: types.map { try entity(of: $0) }, consumer: consumer, hold: hold, limit: limit)
    }

    /// The changes of some entities' rows, which are given by name, for a consumer whose cursor is kept in the database.
    public func changes(
        of names: [String], consumer: String, hold: Duration = .seconds(7 * 86_400),
        bufferingAtMost limit: Int = 100_000
    ) async throws -> ChangeSequence.Acknowledged {
        try core.requireNoSettings(for: "changes(of:)")
        return try await ChangeFollower(database).changes(
            of: names.map { try core.runtime.entity(named: $0) }, consumer: consumer, hold: hold, limit: limit)
    }
}
