import EmbeddedPostgres
public import Kindred
import Synchronization

/// A primary and its replica, of a test's own: for programs that read from replicas, or have to live through a failover.
///
/// ```swift
/// try await ReplicatedServers.with(.file("../../sql/demo.sql"), lag: .milliseconds(100)) { servers in
///     let database = try await servers.connect()
///     let context = database.makeContext(reading: .automatic)
///     try await servers.failOver()
/// }
/// ```
///
/// Both are private servers, started from the installed PostgreSQL programs, `pg_basebackup` among them, in about two seconds;
/// `DATABASE_URL` is ignored.
public final class ReplicatedServers: Sendable {
    /// The address of the server that is the primary at first.
    public let primaryURI: String
    /// The address of the replica.
    public let replicaURI: String

    private let primary: EmbeddedPostgres
    private let opened = Mutex<[Database]>([])
    /// Ask the two servers.
    private let (primaryClient, replicaClient): (PostgresClient, PostgresClient)

    private init(_ primary: EmbeddedPostgres, replica: EmbeddedPostgres) async throws {
        self.primary = primary
        (primaryURI, replicaURI) = (primary.uri, replica.uri)
        primaryClient = try await PostgresClient.connect(try Self.configuration(primary.uri))
        do {
            replicaClient = try await PostgresClient.connect(try Self.configuration(replica.uri))
        } catch {
            await primaryClient.close(timeout: .zero)
            throw error
        }
    }

    private static func configuration(_ uri: String) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(uri: uri)
        // Parallel tests share the processors.
        configuration.pool.acquireTimeout = .seconds(60)
        return configuration
    }

    /// Starts both servers, lends them to a closure, and removes them, even if the closure throws.
    ///
    /// - Parameters:
    ///   - fixture: The content of the database, which the replica has from the beginning.
    ///   - lag: How much later than the primary the replica shows a commit; see ``setLag(_:)``.
    ///   - body: The work to do while the servers run.
    /// - Returns: The closure's result.
    /// - Throws: `EmbeddedPostgresError` if a server cannot be started; ``TestDatabaseError`` `.fixtureFailed`; the closure's own
    ///   error, unchanged.
    public static func with<Result>(
        _ fixture: DatabaseFixture = .empty, lag: Duration = .zero,
        _ body: (ReplicatedServers) async throws -> Result
    ) async throws -> Result {
        var options = EmbeddedPostgres.Options()
        // A failover loses no commit that was answered.
        options.settings["synchronous_commit"] = "on"
        let primary = try await EmbeddedPostgres.start(options: options)
        do {
            try await fill(primary.uri, with: fixture)
            options.following = primary
            let result = try await EmbeddedPostgres.withServer(options: options) { replica in
                let servers = try await ReplicatedServers(primary, replica: replica)
                do {
                    try await servers.setLag(lag)
                    let result = try await body(servers)
                    await servers.close()
                    return result
                } catch {
                    await servers.close()
                    throw error
                }
            }
            await primary.stop()
            return result
        } catch {
            await primary.stop()
            throw error
        }
    }

    private static func fill(_ uri: String, with fixture: DatabaseFixture) async throws {
        let filler = try await PostgresClient.connect(try configuration(uri))
        do {
            try await fixture.fill(over: filler)
        } catch {
            await filler.close(timeout: .zero)
            throw TestDatabaseError(fixture: error)
        }
        await filler.close()
    }

    private func close() async {
        for database in opened.withLock({ $0 }) { await database.close() }
        for client in [primaryClient, replicaClient] { await client.close(timeout: .zero) }
    }

    /// Connects to both servers and reads the schema; the connections are closed at the closure's end.
    ///
    /// Sends one query, for the catalog, and from then on asks each server for its place in the log every 100 ms.
    ///
    /// - Parameters:
    ///   - classes: The classes that objects are made of: `KindredModels.all`.
    ///   - overrides: Names and rules of relationships, in addition to the database's own annotations.
    ///   - configure: Changes both configurations before connecting.
    /// - Returns: The database.
    /// - Throws: As `Database.connect(primary:replicas:)`.
    public func connect(
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> Database {
        let servers = try [primaryURI, replicaURI].map { uri in
            var configuration = try Self.configuration(uri)
            configure(&configuration)
            return configuration
        }
        let database = try await Database.connect(
            primary: servers[0], replicas: Array(servers.dropFirst()), classes: classes, overrides: overrides)
        opened.withLock { $0.append(database) }
        return database
    }

    /// Sets how much later than the primary the replica shows a commit, from the next one on.
    ///
    /// Sends two statements to the replica, and asks until its processes have read the setting. Throws `PostgresError`, and
    /// `CancellationError`.
    ///
    /// - Parameter lag: The time, in whole milliseconds; zero shows commits as soon as they arrive.
    public func setLag(_ lag: Duration) async throws {
        let milliseconds = Int32(clamping: Int64(max(0, lag / .milliseconds(1))))
        // The server takes no parameter here.
        try await replicaClient.runScript("ALTER SYSTEM SET recovery_min_apply_delay = '\(milliseconds)ms'")
        try await replicaClient.query("SELECT pg_reload_conf()")
        let question =
            "SELECT setting::int = \(milliseconds) FROM pg_settings WHERE name = 'recovery_min_apply_delay'" as SQL
        while try await replicaClient.query(question)[0].decode(0, as: Bool.self) != true {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Kills the primary, and has the replica take its place; returns when the replica takes writes.
    ///
    /// The replica gets everything that was committed before the call first, whatever its lag is; commits that it did
    /// not show yet are shown then. Can be called once.
    ///
    /// - Throws: ``TestDatabaseError`` `.failoverFailed` if the replica does not follow within a minute; `PostgresError` if a server
    ///   cannot be asked.
    public func failOver() async throws {
        let location = try await primaryClient.query("SELECT pg_current_wal_flush_lsn()::text")[0].decode(
            0, as: String.self)
        let end = ContinuousClock.now + .seconds(60)
        while try await !hasReceived(location) {
            guard ContinuousClock.now < end else {
                throw TestDatabaseError(
                    .failoverFailed, "The replica has not received the primary's log within a minute.")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        await primary.stop()
        // Waits for the promotion, for a minute.
        let promotion = try await replicaClient.query("SELECT pg_promote()", timeout: .seconds(90))
        guard try promotion[0].decode(0, as: Bool.self) == true else {
            throw TestDatabaseError(.failoverFailed, "The replica was not promoted within a minute.")
        }
    }

    private func hasReceived(_ location: String?) async throws -> Bool {
        let answer = try await replicaClient.query(
            "SELECT pg_last_wal_receive_lsn() >= \(location)::text::pg_lsn")
        return try answer[0].decode(0, as: Bool.self) == true
    }
}
