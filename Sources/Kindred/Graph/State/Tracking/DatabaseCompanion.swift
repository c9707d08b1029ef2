package import KindredPostgres
package import Logging

/// What a product above keeps with a database: `KindredLive` keeps what follows its changes.
package protocol DatabaseCompanion: AnyObject, Sendable {
    /// Ends what it has opened; called once, before the database's own connections are closed.
    func close() async

    /// What it counts of following changes.
    var metrics: Tracking.Metrics { get }
}

/// What a program has chosen for the companion of its database.
package protocol CompanionChoices: Sendable {
    /// Throws `PostgresError` `.invalidConfiguration`; called before anything is sent.
    func validate() throws

    /// Makes the companion of a database that a client is connected to; sends nothing.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    func companion(for client: PostgresClient, logger: Logger?) throws -> any DatabaseCompanion
}
