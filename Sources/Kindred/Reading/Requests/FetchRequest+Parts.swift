import KindredPostgres
import KindredSchema
import Synchronization

extension FetchRequest {
    /// Loads a part of a to-many relationship together with the objects: for each object, the first members in an order
    /// that fulfil a condition.
    ///
    /// ```swift
    /// let projects = try await context.fetch("project")
    ///     .prefetch("tasks") { $0.where("deleted_at == nil").sorted("position").limit(5) }
    ///     .all()
    /// let first = try await projects[0].set(forKey: "tasks")
    ///     .where("deleted_at == nil").sorted("position").limit(5).all()   // sends nothing
    /// ```
    ///
    /// One more query for any number of objects; earlier relationships of the path are loaded whole. The part does not
    /// take the place of the set: the set still has all members, and is read at its first use. The same part asked of
    /// the set is answered from the loaded members, and so are fewer of its members (`first()`, a smaller limit), their
    /// `count()` and `exists()`. A part shows the database's state: staged changes are in it once they are saved. A
    /// write of this context, or a change that it is told of, makes a part stale where it may concern it; a stale part
    /// is read anew at its next use, by one query for all objects that were fetched together.
    ///
    /// Throws `KindredError` `.unknownKey` for a key that is no relationship, `.invalidRequest` for a relationship to
    /// one object and for a negative limit, and the errors of the part's steps. Sends nothing itself.
    public func prefetch(
        _ keyPath: String,
        _ part: (RelationshipPart<DatabaseObject>) throws -> RelationshipPart<DatabaseObject>
    ) throws -> FetchRequest {
        try prefetch(path: keyPath.keys, try part(RelationshipPart<DatabaseObject>()).content)
    }

    func prefetch(path keys: [String], _ part: PartContent) throws -> FetchRequest {
        var request = self
        let path = try entity.relationships(at: keys)
        try request.prefetched.add(part, at: path, in: context.schema)
        return request
    }
}

/// The set of an object whose members a request finds.
struct RequestedSet: Sendable {
    let owner: DatabaseObject
    let relationship: RelationshipRuntime
}

extension FetchRequest {
    /// The request's objects, if they are a part of the set that was loaded before; nil otherwise.
    func loadedPart() async throws -> [DatabaseObject]? {
        guard let set, let wanted = try partQuery else { return nil }
        let core = context.core
        for part in core.withMap({ $0.log.parts.parts(with: wanted) }) {
            guard let members = try await PartLoader(core, part).members(of: set.owner) else { continue }
            let found = wanted.limit.map { Array(members.prefix($0)) } ?? members
            // A request that says which columns it reads has them.
            if query.leftOut != nil { try await ColumnLoader(core).load(besides: query.leftOut, forAll: found) }
            return found
        }
        return nil
    }

    /// The number of the request's objects, if they are a part of the set that was loaded before; nil otherwise.
    func loadedCount() async throws -> Int? {
        guard let set, let query = try partQuery else { return nil }
        let core = context.core
        let key = try query.memberKey(in: context.schema)
        for part in core.withMap({ $0.log.parts.parts(counting: query, key) }) {
            guard let members = try await PartLoader(core, part).members(of: set.owner) else { continue }
            return query.limit.map { min($0, members.count) } ?? members.count
        }
        return nil
    }

    /// The request as a part of its set; nil where the context has loaded no parts, and for requests that only the server answers.
    private var partQuery: PartQuery? {
        get throws {
            guard let set, query.lock == nil, query.offset == nil,
                query.limit.map({ $0 >= 0 }) ?? true,
                context.core.withMap({ $0.log.parts.hasParts(of: set.relationship) })
            else { return nil }
            let members = try query.ofMembers(set.relationship, in: context.schema)
            return try PartQuery(set.relationship, members, in: context.schema)
        }
    }
}
