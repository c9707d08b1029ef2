extension Database {
    /// Makes a context for the duration of `body`, and takes back what `body` leaves unsaved, also when it throws.
    ///
    /// ```swift
    /// try await database.withContext { context in
    ///     let person = try context.insert("person", ["surname": "Holloway"])
    ///     try await context.save()
    /// }
    /// ```
    ///
    /// A context and the objects with staged changes hold each other, so that no change is lost with the last reference to
    /// one of them. The end of the scope lets go of them, as ``DatabaseContext/rollback()`` does: a request that fails
    /// between staging and saving leaves nothing in memory. Sends nothing of its own.
    ///
    /// - Parameters:
    ///   - faulting: what the first access to a relationship does; by default it loads it for all objects that were read
    ///     together.
    ///   - body: what uses the context.
    public func withContext<T>(
        faulting: FaultingMode = .batch,
        _ body: (DatabaseContext) async throws -> T
    ) async rethrows -> T {
        let context = makeContext(faulting: faulting)
        defer { context.rollback() }
        return try await body(context)
    }
}
