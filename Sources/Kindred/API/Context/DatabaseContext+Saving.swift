public import KindredPostgres

extension DatabaseContext {
    /// Writes everything that is staged, in one transaction: new objects, referenced objects first; then changed
    /// attributes; then pairs of many-to-many relationships; then deletions, with their delete rules.
    ///
    /// Deletions come first where a new or changed object takes a key or another unique value of a deleted one, unless
    /// an object leaves the deleted one in the same save: then the object comes before the deletion. A unique value is
    /// released before another object takes it; in a cycle of values, one is NULL temporarily. `DEFERRABLE` constraints
    /// are deferred for a save that writes their table by more than one statement.
    ///
    /// If only the server can tell which values conflict, as in an index of expressions or `citext` and an EXCLUDE
    /// constraint, and several objects change, one SELECT asks it first. New objects that require each other are stored
    /// if their keys are given, by one INSERT if they are of one entity, else if their foreign keys are `DEFERRABLE`.
    ///
    /// One INSERT for each entity and set of given columns, one UPDATE for each entity and set of changed columns, one
    /// INSERT for each helper table; nothing if nothing is staged. With 5,000 rows and more, the last eighth has its
    /// own statement in the same pipeline, so that the server works while the other rows are applied to memory; no
    /// statement has more than 25,000 rows. Afterwards objects have the keys and defaults that the database assigned.
    /// Hooks run first, then everything is validated, before anything is sent.
    ///
    /// After an error, nothing is written and everything stays staged. Throws `KindredError` with all `problems` by
    /// object and key: values that are missing, too large or of the wrong type, keys that do not exist, also keys that
    /// were read where nothing is staged, errors of `validate`, constraints that refused an object; `.objectDeleted` if
    /// a row is gone; `.staleObject` with the `conflicts` if another transaction has changed rows since they were read,
    /// where the entity has optimistic locking. Inside a transaction it is a savepoint.
    ///
    /// Changed rows are sent in the order of their tables and keys, and new rows in the order of their keys where the
    /// server makes no numbers for them, so that saves of the same rows wait for each other. A save that a deadlock or
    /// a serialization failure has rolled back runs again, six times at most: hooks except `prepareForDeletion` do
    /// not. A new object with an end of a one-to-one relationship that has a partner already is refused, unless the
    /// partner leaves or is deleted in the same save.
    ///
    /// Saves of one context run one after the other. Changes staged while a save is running stay staged.
    public func save(fileID: String = #fileID, line: Int = #line) async throws {
        try await client.called(at: fileID, line) { try await Saver(core).save() }
    }

    /// Runs `body`, which changes objects, and saves, in one transaction; repeats all of it after a conflict.
    ///
    /// ```swift
    /// try await context.save(retry: .attempts(5)) {
    ///     account["balance"] = (try account.value(forKey: "balance", as: Int.self) ?? 0) - 100
    /// }
    /// ```
    ///
    /// It is repeated after a stale write (`.staleObject`), a serialization failure, a deadlock, and a connection that
    /// was lost before COMMIT was sent. Each attempt begins with rows and objects as they were before, and with the
    /// objects concerned locked and read again: objects in conflict and objects that `body` had changed, by one SELECT
    /// … FOR UPDATE for each entity. The lock lets a second attempt succeed despite any number of concurrent writers.
    /// So `body` must compute from the values that objects show when it runs, and do nothing that cannot be repeated.
    ///
    /// Changes staged before are saved with it. Inside another transaction it is a savepoint, and only stale writes are
    /// tried again.
    ///
    /// - Parameters:
    ///   - isolation: the transaction's isolation level; nil is the server's default.
    ///   - retry: how often `body` runs at most; growing random pauses come in between.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    ///   - body: changes the objects, once for each attempt.
    /// - Throws: the errors of `body` and of `save()`, in the last attempt. The changes of `body` are rolled
    ///   back.
    public func save<T>(
        isolation: IsolationLevel? = nil,
        retry: RetryPolicy,
        fileID: String = #fileID,
        line: Int = #line,
        _ body: () async throws -> T
    ) async throws -> T {
        try await Saver(core).save(
            isolation: isolation, retry: retry, at: SourcePlace(fileID: fileID, line: line), body)
    }
}

extension DatabaseObject {
    /// Writes this object's staged changes, and stores the new objects that it points to; nothing if nothing is staged.
    ///
    /// A transaction with one statement for each entity concerned. Throws as `DatabaseContext.save()` does.
    public func save(fileID: String = #fileID, line: Int = #line) async throws {
        try await called(at: fileID, line) { _ in try await Saver(core).save(self) }
    }
}
