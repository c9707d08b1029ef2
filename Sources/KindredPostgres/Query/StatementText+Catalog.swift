extension StatementText {
    private static let operators: Set<Substring> = ["=", "<>", ">=", ">", "&", "!~~", "~~"]

    /// A statement about the catalog, in which no schema of the search path has a say.
    ///
    /// Operators that stand between spaces become PostgreSQL's own. Functions and types have to be named with their schema,
    /// and phrases that stand for operators to be avoided: IN, LIKE, BETWEEN, IS DISTINCT FROM, CASE with a value.
    package convenience init(catalog sql: String) {
        let words = sql.split(separator: " ", omittingEmptySubsequences: false).map { word in
            Self.operators.contains(word) ? "OPERATOR(pg_catalog.\(word))" : word
        }
        self.init(words.joined(separator: " "))
    }
}
