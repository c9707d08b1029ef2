import KindredPostgres
import KindredSchema

/// A request for the objects of an entity: a value that is narrowed step by step and sent at the end.
///
/// ```swift
/// let smiths = try await context.fetch("person")
///     .where("surname = %@ AND ANY emailSet.address LIKE %@", "Smith", "*@example.org")
///     .sorted("firstname")
///     .limit(20)
///     .all()
/// ```
public struct FetchRequest<Object: DatabaseObject>: Sendable {
    package let context: DatabaseContext
    package let entity: EntityRuntime
    package var query: SelectQuery
    /// The relationships loaded together with the objects.
    package var prefetched = PrefetchTree()
    /// The set whose members the objects are, by the first condition; nil for other requests.
    var set: RequestedSet?

    package init(context: DatabaseContext, entity: EntityRuntime) {
        self.context = context
        self.entity = entity
        query = SelectQuery(entity)
    }

    /// Adds a condition to the earlier ones.
    ///
    /// The condition is a format string in the grammar of NSPredicate; each `%@` stands for the next argument, which is
    /// always bound, and `%K` for a key path. Throws `KindredError`: `.invalidCondition` with the place of the fault,
    /// `.unknownKey` with the nearest keys. Sends nothing.
    public func `where`(_ format: String, _ arguments: (any PropertyValue)?...) throws -> FetchRequest {
        try self.where(format, arguments: arguments)
    }

    /// Adds a condition, with its arguments in an array.
    public func `where`(_ format: String, arguments: [(any PropertyValue)?]) throws -> FetchRequest {
        var request = self
        try request.query.narrow(by: format, try arguments.map { try ConditionArgument($0) }, in: context.schema)
        return request
    }

    package func `where`(_ condition: Condition) throws -> FetchRequest {
        var request = self
        try request.query.narrow(by: condition, in: context.schema)
        return request
    }

    /// Sorts by an attribute, or by a path over to-one relationships such as `person.surname`, after earlier sort keys.
    ///
    /// The number of a to-many relationship's members is a key too: `emailSet.@count`. NULL comes last, and first when
    /// descending, unless `nulls` says otherwise. Throws `KindredError`
    /// `.unknownKey` with the nearest keys, `.invalidRequest` for a path to objects and for a type without an order,
    /// such as `json` and `point`. Sends nothing.
    public func sorted(
        _ keyPath: String, ascending: Bool = true, nulls: NullOrder = .standard
    ) throws -> FetchRequest {
        try sorted(path: keyPath.keys, ascending: ascending, nulls: nulls)
    }

    func sorted(path: [String], ascending: Bool, nulls: NullOrder = .standard) throws -> FetchRequest {
        try sorted(SortTerm(path: path, ascending: ascending, nulls: nulls))
    }

    func sorted(_ term: SortTerm) throws -> FetchRequest {
        var request = self
        try request.query.append(term, in: context.schema)
        return request
    }

    /// Takes off the filters of entities: objects that they hide are found, too.
    ///
    /// Takes off the filter of the request's own entity, and the filters of members in conditions and sort keys.
    /// Conditions that are written in the request stay, even if they say the same. `update` and `delete` write the rows
    /// that the request finds. Prefetched sets belong to the objects, and stay filtered. Sends nothing.
    ///
    /// ```swift
    /// let old = try context.fetch("task").unfiltered().where("deleted_at != nil")
    /// ```
    public func unfiltered() -> FetchRequest {
        var request = self
        request.query.isFiltered = false
        return request
    }

    /// Takes at most this many objects; a negative number is an error when the request is sent.
    public func limit(_ count: Int) -> FetchRequest {
        var request = self
        request.query.limit = count
        return request
    }

    /// Skips this many objects; a negative number is an error when the request is sent.
    public func offset(_ count: Int) -> FetchRequest {
        var request = self
        request.query.offset = count
        return request
    }
}

extension FetchRequest {
    /// The objects, with known objects refreshed where nothing is staged.
    ///
    /// One query, and one more for each prefetched relationship; none for a part of a set that was prefetched. Throws `KindredError` `.invalidRequest` for a negative
    /// limit or offset and for a lock outside a transaction, before anything is sent; `.schemaChanged` if the database
    /// no longer fits the model.
    public func all(fileID: String = #fileID, line: Int = #line) async throws -> [Object] {
        return try await context.core.client.called(at: fileID, line) {
            if set != nil, let known = try await loadedPart() {
                try await Loader(context.core).prefetch(prefetched, of: known)
                return try entity.typed(known)
            }
            if query.lock != nil { try context.core.client.requireTransaction() }
            let query = try await query.lockedByTenant(entity, in: context.core)
            let statement = try query.statement(in: context.schema)
            context.core.note(leavingOut: query.leftOut)
            try await context.core.follow(entity)
            let askedAt = context.core.beginReading()
            let result = try await context.core.read(statement, for: entity.name)
            let objects = try context.core.take(result, of: entity, askedAt: askedAt)
            try await Loader(context.core).prefetch(prefetched, of: objects)
            return try entity.typed(objects)
        }
    }

    /// The first object, or nil.
    ///
    /// One query with LIMIT 1. Throws as `all()` does.
    public func first(fileID: String = #fileID, line: Int = #line) async throws -> Object? {
        try await limited(to: 1).all(fileID: fileID, line: line).first
    }

    /// The only object.
    ///
    /// One query with LIMIT 2. Throws `KindredError` `.notFound` if there is none, `.notUnique` if there are more, and
    /// as `all()` does.
    public func one(fileID: String = #fileID, line: Int = #line) async throws -> Object {
        let objects = try await limited(to: 2).all(fileID: fileID, line: line)
        guard let object = objects.first else {
            throw KindredError(.notFound, "No object of \(entity.name) matches", entity: entity.name.description)
        }
        guard objects.count == 1 else {
            throw KindredError(
                .notUnique,
                "More than one object of \(entity.name) matches",
                entity: entity.name.description
            )
        }
        return object
    }

    /// The number of objects, limit and offset included.
    ///
    /// One `SELECT count(*)`; none for a part of a set that was prefetched.
    public func count(fileID: String = #fileID, line: Int = #line) async throws -> Int {
        return try await context.core.client.called(at: fileID, line) {
            if set != nil, let known = try await loadedCount() { return known }
            let result = try await context.core.read(
                try query.countStatement(in: context.schema), for: entity.name)
            guard case .integer(let count) = try result.first?[0] else { return 0 }
            return Int(count)
        }
    }

    /// Whether there is any object.
    ///
    /// One `SELECT EXISTS`; none for a part of a set that was prefetched.
    public func exists(fileID: String = #fileID, line: Int = #line) async throws -> Bool {
        return try await context.core.client.called(at: fileID, line) {
            if set != nil, let known = try await loadedCount() { return known > 0 }
            let result = try await context.core.read(
                try query.existsStatement(in: context.schema), for: entity.name)
            return try result.first?[0] == .bool(true)
        }
    }

    private func limited(to count: Int) -> FetchRequest {
        limit(query.limit.map { min($0, count) } ?? count)
    }
}

extension FetchRequest {
    /// Loads relationships together with the objects: `prefetch("books", "books.tags")`.
    ///
    /// One more query for each relationship on the paths, for any number of objects; the first access to them then
    /// sends nothing. A path includes its earlier relationships. Throws `KindredError` `.unknownKey` for a key that is
    /// no relationship. Sends nothing itself.
    public func prefetch(_ keyPaths: String...) throws -> FetchRequest {
        try prefetch(paths: keyPaths.map(\.keys))
    }

    package func prefetch(paths: [[String]]) throws -> FetchRequest {
        var request = self
        for keys in paths { request.prefetched.add(try entity.relationships(at: keys)[...]) }
        return request
    }
}

extension FetchRequest {
    /// The SQL of `all()`, with `$1`, `$2`, … for values, and without the prefetched relationships.
    public var sql: String {
        get throws { context.core.client.text(of: try query.statement(in: context.schema)) }
    }

    /// The server's plan of the query, as EXPLAIN prints it.
    ///
    /// One statement. With `analyze` the server runs the query to its end, and measures it.
    public func explain(analyze: Bool = false, fileID: String = #fileID, line: Int = #line) async throws -> String {
        return try await context.core.client.called(at: fileID, line) {
            var statement = try query.statement(in: context.schema)
            let options = analyze ? "EXPLAIN (ANALYZE, BUFFERS)" : "EXPLAIN"
            statement.text = StatementText(oneTime: "\(options) \(statement.text.text)", effect: .plain)
            statement.resultFormat = .text
            return try await context.core.client.execute(statement, for: entity.name)
                .compactMap { try $0.decode(0, as: String.self) }
                .joined(separator: "\n")
        }
    }
}
