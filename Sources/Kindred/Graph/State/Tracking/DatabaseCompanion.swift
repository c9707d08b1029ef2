package import KindredPostgres
package import Logging

/// The state that a product above keeps with a database: `KindredLive` keeps the readers and followers of its changes.
package protocol DatabaseCompanion: AnyObject, Sendable {
    /// Ends its connections; called once, before the database's own connections are closed.
    func close() async

    /// The figures of following changes.
    var metrics: Tracking.Metrics { get }
}

/// The choices of a program for the companion of its database.
package protocol CompanionChoices: Sendable {
    /// Throws `PostgresError` `.invalidConfiguration`; called before anything is sent.
    func validate() throws

    /// Makes the companion of a database that a client is connected to; sends nothing.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    ///
    /// - Parameter replicas: the servers of the database, if there are several.
    func companion(
        for client: PostgresClient, replicas: ReplicaSet?, logger: Logger?
    ) throws -> any DatabaseCompanion
}
