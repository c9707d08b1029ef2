import Kindred
import KindredPostgres
import Logging

extension LiveChoices: CompanionChoices {
    func validate() throws {
        try wakeUp.validate()
        try limits.validate()
    }

    func companion(
        for client: PostgresClient, replicas: ReplicaSet?, logger: Logger?
    ) throws -> any DatabaseCompanion {
        if let owner { try replicas?.trustMarks(of: owner) }
        return LiveCompanion(
            listening: try ChangeListening(wakeUp, for: client, logger), consumerOwner: consumerOwner, owner: owner,
            questionLimits: limits)
    }
}

extension ChangeListening {
    /// Prepares listening as the options say; sends nothing.
    ///
    /// Throws `PostgresError` `.invalidConfiguration`.
    fileprivate init(_ wakeUp: Tracking.Options.WakeUp, for client: PostgresClient, _ logger: Logger?) throws {
        switch wakeUp.way {
        case .poll: self = .never
        case .notify: self = .byClient
        case .notifyOver(let address):
            // Asked of both at each new connection: either address may have moved to another server meanwhile.
            self = .over(
                try PostgresListener(try address.get(), logger: logger) { ask in
                    let read = try await TrackedPlace { try await client.query($0) }
                    guard try await read != TrackedPlace(ask) else { return }
                    throw PostgresError(
                        .connectionFailed,
                        "The listener's address is of another database than the one whose changes are read")
                })
        }
    }
}

extension Database {
    /// Listens to a channel, as the database's options say.
    ///
    /// Throws `PostgresError` `.connectionFailed`, also behind a pooler of transactions and for an address of another database.
    func notifications(on channel: String) async throws -> Notifications {
        if case .over(let listener) = live.listening { return try await listener.listen(to: channel) }
        return try await client.listen(to: channel)
    }

    /// Logs that changes are found by polling alone.
    func warnOfPolling(_ error: any Error) {
        // The end of the database is no fault.
        if (error as? PostgresError)?.code == .closed { return }
        mistakes.warn(
            """
            Changes are found by polling, because notifications cannot be listened to: \(error). Give a listener an address of \
            its own, or choose to poll: Database.connect(…, tracking: Tracking.Options(wakeUp:))
            """)
    }
}

/// The server, database and installation that a connection leads to.
private struct TrackedPlace: Equatable {
    private var system: Int64?
    private var database: Int64?
    private var epoch: String?

    /// Asks a connection; all are nil where change tracking is not installed.
    init(_ ask: (SQL) async throws -> QueryResult) async throws {
        do {
            guard let row = try await ask(TrackingStatements.place).first else { return }
            system = try row.decode(0, as: Int64.self)
            database = try row.decode(1, as: Int64.self)
            epoch = try row.decode(2, as: String.self)
        } catch let error as PostgresError {
            guard KindredError(tracking: error)?.code == .trackingNotInstalled else { throw error }
        }
    }
}
