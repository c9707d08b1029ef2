public import Kindred
import KindredPostgres

extension DatabaseContext {
    /// The changes of one object: a live request whose list has the object, and is empty once its row is gone.
    ///
    /// ```swift
    /// for try await update in try await context.live(person, prefetch: "emailSet") {
    ///     guard let person = update.objects.first else { break }
    ///     print(person["surname"] ?? "-")
    /// }
    /// ```
    ///
    /// The updates' object is not the given object: it belongs to a context of its own. A changed key ends the object's
    /// list. Throws as ``FetchRequest/live(since:atMostEvery:fileID:line:)`` does; `KindredError` `.notStored` for a new
    /// object.
    public func live<Object: DatabaseObject>(
        _ object: Object, prefetch paths: String..., since cursor: LiveCursor? = nil, fileID: String = #fileID,
        line: Int = #line
    ) async throws -> LiveRequest<Object> {
        try await live(object, prefetch: paths, since: cursor, fileID: fileID, line: line)
    }

    func live<Object: DatabaseObject>(
        _ object: Object, prefetch paths: [String], since cursor: LiveCursor? = nil, fileID: String, line: Int
    ) async throws -> LiveRequest<Object> {
        try object.requireLive()
        guard let key = object.key, !key.isTemporary else { throw object.notStored }
        let entity = object.runtime
        let equalities = zip(entity.key, key.values).map { column, value in
            ConditionNode.comparison(
                ConditionComparison(.path(.own(entity.entity.attributes[column].name)), .equal, with: .value(value)))
        }
        return try await FetchRequest<Object>(context: self, entity: entity)
            .where(Condition(.all(ConditionList(equalities)))).prefetch(paths: paths.map(\.keys)).live(
                since: cursor, fileID: fileID, line: line)
    }
}

extension ToMany {
    /// The changes of the set: a live request for its members, in their order if the relationship has one.
    ///
    /// Throws as ``FetchRequest/live(since:atMostEvery:fileID:line:)`` does; `KindredError` `.objectDeleted` for a deleted owner.
    public func live(
        since cursor: LiveCursor? = nil, fileID: String = #fileID, line: Int = #line
    ) async throws -> LiveRequest<Member> {
        try await request().live(since: cursor, fileID: fileID, line: line)
    }
}
