package import KindredPostgres

/// Change tracking in a database: installing it, and choosing the tables whose changes are recorded.
///
/// ```swift
/// import KindredLive
///
/// try await database.tracking.install()
/// try await database.tracking.enable("person", "email")
/// ```
///
/// Triggers of tracked tables write the keys of changed rows to an outbox in the schema `kindred`. Reading and writing
/// objects need none of this. Its methods are declared in the product `KindredLive`, which follows changes.
public struct Tracking: Sendable {
    package let client: PostgresClient
    /// The database whose changes are followed; nil for a client without a model.
    package let database: Database?
    /// The role whose installation is used, besides installations of the caller and of superusers.
    package let owner: String?

    /// Uses a client, of a database if it has a model.
    package init(client: PostgresClient, database: Database?, owner: String?) {
        self.client = client
        self.database = database
        self.owner = owner
    }
}

extension Tracking {
    /// How a process follows the changes of a database.
    ///
    /// The choices are declared in the product `KindredLive`; a program without it follows nothing.
    public struct Options: Sendable {
        /// The program's choices; nil for the defaults.
        package var choices: (any CompanionChoices)?

        /// Nothing is chosen: the server notifies over the database's own address.
        public init() {}
    }
}
