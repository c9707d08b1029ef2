package import KindredPostgres

/// The answers to queries of the catalog, in their order.
package struct CatalogAnswers {
    private var rest: ArraySlice<QueryResult>

    /// - Parameter results: As many as there were queries.
    package init(_ results: ArraySlice<QueryResult>) { rest = results }

    /// Takes the next answer, and tells errors of its shape by the things that it is about.
    package mutating func rows(_ subject: String) throws(SchemaError) -> CatalogRows {
        CatalogRows(try next(subject), about: subject)
    }

    /// Takes the next answer as it is.
    mutating func next(_ subject: String) throws(SchemaError) -> QueryResult {
        guard let result = rest.popFirst() else { throw CatalogRows.unreadable(subject) }
        return result
    }
}

extension PostgresClient {
    /// Reads the catalog in one round trip, all of it as of one moment: in a read-only transaction, or in the task's transaction.
    ///
    /// The server compiles none of the queries: its estimates of rows would make it compile, which takes longer than the reading.
    ///
    /// - Parameters:
    ///   - queries: One of the first has `CatalogQueries.withoutCompiler`.
    ///   - isAlone: Whether the task's transaction only reads the catalog: then it stays without compilation.
    package func readCatalog(
        _ queries: [Statement], isAlone: Bool = false, timeout: Duration? = nil
    ) async throws -> CatalogAnswers {
        if isInTransaction {
            let end = isAlone ? [] : [CatalogQueries.withCompiler]
            return CatalogAnswers(try await executeBatch(queries + end, timeout: timeout).dropLast(end.count))
        }
        let statements = [CatalogQueries.begin] + queries + [CatalogQueries.commit]
        // An exclusive connection: if a statement fails, no other task gets the failed transaction.
        let results = try await withConnection { _ in try await executeBatch(statements, timeout: timeout) }
        return CatalogAnswers(results.dropFirst().dropLast())
    }
}
