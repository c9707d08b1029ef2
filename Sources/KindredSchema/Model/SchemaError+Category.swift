public import KindredPostgres

extension SchemaError: CategorizedError {
    /// A wrong name is invalid; all else is a failure.
    public var category: ErrorCategory {
        code == .unknownKey || code == .unknownEntity ? .invalid : .failure
    }

    /// Never: reading a schema changes nothing.
    public var mayHaveTakenEffect: Bool { false }
}
