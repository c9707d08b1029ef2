public import KindredPostgres

/// An object that was not written because somebody else has changed its row since it was read.
///
/// `DatabaseObject.refresh()` takes the database's values over and keeps what is staged; a save after that is no conflict
/// any more.
public struct VersionConflict: Sendable {
    /// The object whose write was refused.
    public let object: DatabaseObject
    /// The version that the object was read with.
    public let version: PostgresValue?
    /// The version that the row has in the database.
    public let databaseVersion: PostgresValue?
    /// The attributes whose values in the database are others than those that were read, but for the version itself.
    public let changedKeys: [String]
}
