public import KindredPostgres

extension SchemaError: CategorizedError {
    /// A wrong name is the program's mistake; all else is a failure.
    public var category: ErrorCategory {
        code == .unknownKey || code == .unknownEntity ? .mistake : .failure
    }

    /// Never: reading a schema changes nothing.
    public var mayHaveTakenEffect: Bool { false }
}
