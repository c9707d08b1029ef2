public import KindredPostgres

/// Change tracking in a database: installing it, and choosing the tables whose changes are recorded.
///
/// ```swift
/// try await database.tracking.install()
/// try await database.tracking.enable("person", "email")
/// ```
///
/// Triggers of tracked tables write the keys of changed rows to an outbox in the schema `kindred`. Reading and writing
/// objects need none of this. See <doc:OperatingLiveChanges>.
public struct Tracking: Sendable {
    let client: PostgresClient
    let database: Database?
    /// The role whose installation is used, besides installations of the caller and of superusers.
    let owner: String?

    /// Uses a client of the database, which may be without a model.
    ///
    /// Functions in the schema `kindred` run with the rights of the caller. So every call refuses (`.accessDenied`) a
    /// schema or object there that belongs neither to the caller nor to a superuser nor to the named role, before
    /// anything there is used. A superuser uses only objects that superusers have made.
    ///
    /// - Parameters:
    ///   - client: the database's client.
    ///   - owner: the role that has installed change tracking, if it is another role that the caller trusts.
    public init(_ client: PostgresClient, owner: String? = nil) {
        self.client = client
        self.owner = owner
        database = nil
    }

    init(_ database: Database) {
        client = database.client
        owner = database.trackingOwner
        self.database = database
    }
}
