public import KindredPostgres
import KindredSchema

extension FetchRequest {
    /// An aggregate over the rows that the request selects, limit and offset included.
    ///
    /// One query; no objects are made. Throws `KindredError` `.unknownKey`, or `.invalidRequest` for an attribute whose
    /// type the aggregate cannot take, before anything is sent. The types with a minimum and maximum depend on the
    /// server's version: without such an aggregate, the error is `PostgresError` with SQLSTATE 42883.
    public func aggregate(_ aggregate: Aggregate, fileID: String = #fileID, line: Int = #line) async throws
        -> PostgresValue?
    {
        return try await total(aggregate.term, fileID: fileID, line: line)
    }

    func total(_ total: AggregateTerm, fileID: String, line: Int) async throws -> PostgresValue? {
        return try await context.core.client.called(at: fileID, line) {
            try await context.core.read(
                try query.statement(for: total, in: context.schema), for: entity.name
            )
            .first?[0]
        }
    }

    /// The sum of an attribute's numbers or intervals, or of an attribute at the end of a to-one path; nil for no
    /// values.
    ///
    /// One query.
    public func sum(_ keyPath: String, fileID: String = #fileID, line: Int = #line) async throws -> PostgresValue? {
        try await aggregate(.sum(keyPath), fileID: fileID, line: line)
    }

    /// The mean of an attribute's numbers or intervals; nil for no values.
    ///
    /// One query.
    public func average(_ keyPath: String, fileID: String = #fileID, line: Int = #line) async throws -> PostgresValue? {
        try await aggregate(.average(keyPath), fileID: fileID, line: line)
    }

    /// The smallest of an attribute's values; nil for no values.
    ///
    /// One query.
    public func minimum(_ keyPath: String, fileID: String = #fileID, line: Int = #line) async throws -> PostgresValue? {
        try await aggregate(.minimum(keyPath), fileID: fileID, line: line)
    }

    /// The greatest of an attribute's values; nil for no values.
    ///
    /// One query.
    public func maximum(_ keyPath: String, fileID: String = #fileID, line: Int = #line) async throws -> PostgresValue? {
        try await aggregate(.maximum(keyPath), fileID: fileID, line: line)
    }

    /// Groups the rows by their values at the given key paths.
    ///
    /// ```swift
    /// let rows = try await context.fetch("book").group(by: "author.name", aggregates: .count, .sum("price"))
    ///     .having(.count, .greater, 3).all()
    /// ```
    ///
    /// The request's sort keys must be among the paths; its limit and offset count groups. Throws `KindredError`
    /// `.unknownKey` or `.invalidRequest`. Sends nothing.
    public func group(by keyPaths: String..., aggregates: Aggregate...) throws -> GroupRequest {
        try GroupRequest(context: context, query: query, keyPaths: keyPaths, aggregates: aggregates)
    }
}

extension Aggregate {
    /// The aggregate with its path's keys.
    var term: AggregateTerm {
        AggregateTerm(function, of: keyPath.map { .path(ConditionPath(.own, $0.keys)) }, label: description)
    }
}
