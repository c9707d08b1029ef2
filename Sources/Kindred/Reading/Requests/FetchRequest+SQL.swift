import KindredPostgres

extension FetchRequest {
    /// What `all()` would send, with `$1`, `$2`, … for values; of the relationships to be prefetched nothing is shown.
    public var sql: String {
        get throws { try query.statement(in: context.schema).text.text }
    }

    /// How the server would run the query, as EXPLAIN prints it.
    ///
    /// One statement. With `analyze` the server runs the query to its end, and measures it.
    public func explain(analyze: Bool = false, fileID: String = #fileID, line: Int = #line) async throws -> String {
        return try await context.client.called(at: fileID, line) {
            var statement = try query.statement(in: context.schema)
            let options = analyze ? "EXPLAIN (ANALYZE, BUFFERS)" : "EXPLAIN"
            statement.text = StatementText(oneTime: "\(options) \(statement.text.text)", effect: .plain)
            statement.resultFormat = .text
            return try await context.client.execute(statement, for: entity.name)
                .compactMap { try $0.decode(0, as: String.self) }
                .joined(separator: "\n")
        }
    }
}
