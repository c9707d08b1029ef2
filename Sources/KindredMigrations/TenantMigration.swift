/// The outcome for one tenant when migrations were applied to many.
public struct TenantMigration: Sendable {
    /// The kind of outcome.
    public enum State: String, Sendable {
        /// Files ran, and nothing is left to run.
        case applied
        /// Nothing was to run.
        case skipped
        /// Files would run; only in the result of `pending`.
        case pending
        /// A file failed, or none may run; see ``TenantMigration/error``.
        case failed
    }

    /// The name of the tenant's schema.
    public let schema: String
    /// The kind of outcome.
    public let state: State
    /// The files that this call ran, in their order; in the result of `pending`, the files that would run.
    public let files: [MigrationFile]
    /// Why it failed, nil unless it did; the files before the file that it names have run.
    public let error: MigrationError?
}
