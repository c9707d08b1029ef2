import Foundation
import Kindred
import KindredLive
import Synchronization
import Testing

/// A primary with two replicas, the address that leads to the primary, and a pooler before that address.
final class SoakServers: Sendable {
    struct Failure: Error {
        let text: String
    }

    private struct State {
        /// All servers; their order stays the same while roles change.
        var servers: [RestartableServer]
        var primary = 0
    }

    /// The password of the program's role, as a vault gives it.
    final class Vault: Sendable {
        private let password = Mutex("first")

        var current: String { password.withLock { $0 } }
        func change(to new: String) { password.withLock { $0 = new } }
        @Sendable func give() async throws -> PostgresConfiguration.Password { .init(current) }
    }

    static let maximumConnections = 40
    private static let settings = [
        // Each acknowledged commit is on a replica, which takes the primary's place.
        "synchronous_standby_names = 'ANY 1 (*)'", "max_connections = \(maximumConnections)", "wal_keep_size = 256MB",
        "wal_receiver_timeout = 10s", "wal_retrieve_retry_interval = 200ms", "deadlock_timeout = 500ms",
        "shared_buffers = 32MB",
    ]
    private static let accessRules = [
        "local all postgres trust", "local replication postgres trust", "local all app scram-sha-256",
    ]

    let address: FaultProxy
    let pooler: TestPooler?
    let vault: Vault
    /// Whether the servers have a small disk, which is the same path for all of them.
    let hasSmallDisk: Bool
    private let disk: String
    private let state: Mutex<State>

    private init(
        _ servers: [RestartableServer], _ address: FaultProxy, _ pooler: TestPooler?, _ vault: Vault, disk: String,
        hasSmallDisk: Bool
    ) {
        (self.address, self.pooler, self.vault, self.disk) = (address, pooler, vault, disk)
        self.hasSmallDisk = hasSmallDisk
        state = Mutex(State(servers: servers))
    }

    /// Lends the servers with the tables of the soak, and removes them afterwards.
    static func with(_ body: (SoakServers) async throws -> Void) async throws {
        let hasSmallDisk = await MountNamespace.isAllowed
        let folder = "/tmp/kindred-soak-\(UInt32.random(in: 0..<UInt32.max))"
        let disk = folder + "/small"
        let vault = Vault()
        var started: [RestartableServer] = []
        func start(following primary: RestartableServer? = nil) async throws -> RestartableServer {
            let server = try await RestartableServer(
                following: primary, settings: settings, accessRules: primary == nil ? accessRules : [],
                hasSmallDisk: hasSmallDisk, smallDiskAt: hasSmallDisk ? disk : nil)
            started.append(server)
            try await server.start()
            return server
        }
        func remove(_ servers: [RestartableServer]) async {
            for server in servers { try? await server.remove() }
            try? await servers.first?.run("rm -rf \(folder)")
        }
        do {
            let primary = try await start()
            try await prepare(primary, vault, SoakSchema.script)
            for _ in 0..<2 { _ = try await start(following: primary) }
            let address = try FaultProxy(to: primary.configuration)
            defer { address.stop() }
            var beforeAddress = address.configuration
            beforeAddress.user = "app"
            let pooler =
                TestPooler.isInstalled
                ? try await TestPooler(sessions: 6, before: beforeAddress, password: vault.current) : nil
            let servers = SoakServers(
                started, address, pooler, vault, disk: disk, hasSmallDisk: hasSmallDisk)
            do {
                try await servers.waitForReplicas()
                try await body(servers)
            } catch {
                await remove(servers.all)
                throw error
            }
            await remove(servers.all)
        } catch {
            await remove(started)
            throw error
        }
    }

    /// A configuration of the administrator, whose commits wait for no replica.
    private static func alone(_ server: RestartableServer) -> PostgresConfiguration {
        var configuration = server.configuration
        configuration.settings["synchronous_commit"] = "local"
        return configuration
    }

    /// Makes the role and the tables, and has their changes recorded.
    private static func prepare(_ server: RestartableServer, _ vault: Vault, _ script: String) async throws {
        try await lend(alone(server)) { client in
            try await client.runScript("CREATE ROLE app LOGIN PASSWORD '\(vault.current)'")
            try await client.runScript(script)
            let tracking = Tracking(client)
            try await tracking.install(readers: ["app"])
            try await tracking.enable(SoakSchema.tracked)
        }
    }

    private var all: [RestartableServer] { state.withLock { $0.servers } }
    /// The server that takes writes.
    var primary: RestartableServer { state.withLock { $0.servers[$0.primary] } }

    /// The servers that follow.
    var replicas: [RestartableServer] {
        state.withLock { state in
            state.servers.indices.filter { $0 != state.primary }.map { state.servers[$0] }
        }
    }

    // MARK: Ways

    /// A configuration of the program's role over the address, or to one server.
    func configuration(of server: RestartableServer? = nil, connections: Int) -> PostgresConfiguration {
        limited(server?.configuration ?? address.configuration, connections: connections)
    }

    /// A configuration of the program's role over the pooler.
    func pooled(connections: Int) -> PostgresConfiguration? {
        guard let pooler else { return nil }
        var configuration = limited(pooler.configuration, connections: connections)
        configuration.statementCacheCapacity = 0
        return configuration
    }

    private func limited(_ given: PostgresConfiguration, connections: Int) -> PostgresConfiguration {
        var configuration = given
        configuration.user = "app"
        configuration.passwordProvider = vault.give
        configuration.connectTimeout = .seconds(20)
        configuration.statementTimeout = .seconds(30)
        configuration.pool.acquireTimeout = .seconds(15)
        configuration.pool.maximumConnections = connections
        return configuration
    }

    /// Lends an administrator's client of a server, the primary unless named.
    func administer(
        _ server: RestartableServer? = nil, _ body: (PostgresClient) async throws -> Void
    ) async throws {
        var configuration = (server ?? primary).configuration
        configuration.pool.maximumConnections = 2
        try await lend(configuration, body)
    }

    // MARK: Places

    /// Waits until both replicas follow the primary.
    func waitForReplicas() async throws {
        try await administer { client in
            try await eventually("both replicas follow") { try await Self.replicas(of: client) == 2 }
        }
    }

    private static func replicas(of client: PostgresClient) async throws -> Int {
        let row = try await client.query("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")[0]
        return try row.decode(0, as: Int.self) ?? 0
    }

    /// The end of a primary, before another server takes its place.
    enum End {
        /// It tells the replicas everything.
        case stopped
        /// It ends without a word, and has to be made anew.
        case crashed
        /// It takes no writes any more, and answers reads for some time beside the new primary.
        case readOnly
    }

    /// Has the replica take the primary's place that has received the most, and leads the address there.
    func move(_ end: End, _ books: SoakBooks) async throws {
        let (former, start) = (primary, ContinuousClock.now)
        switch end {
        case .stopped: try await former.stop(.fast)
        case .crashed: try await former.stop(.immediate)
        case .readOnly: try await endWrites(former)
        }
        books.outage(since: start)
        let next = try await mostAdvanced()
        try await next.promote()
        state.withLock { state in
            if let place = state.servers.firstIndex(where: { $0 === next }) { state.primary = place }
        }
        try address.lead(to: next.configuration)
        for replica in replicas where replica !== former {
            try await administer(replica) { client in
                try await client.runScript(
                    "ALTER SYSTEM SET primary_conninfo = 'host=\(next.folder) user=postgres'")
                try await client.query("SELECT pg_reload_conf()")
            }
        }
        if end == .readOnly {
            try await Task.sleep(for: .milliseconds(1_500))
            try await former.stop(.immediate)
        }
        if end == .stopped {
            try await former.follow(next)
            try await former.start()
            if try await replicasFollowSoon() { return }
            // A replica that connects again while the server stops does not hear of its end, and what it has alone keeps it from following.
            try await former.stop(.immediate)
        }
        try await former.copy(next)
        try await former.start()
        try await waitForReplicas()
    }

    private func replicasFollowSoon() async throws -> Bool {
        var isReached = false
        try await administer { client in
            for _ in 0..<150 where !isReached {
                isReached = try await Self.replicas(of: client) == 2
                if !isReached { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
        return isReached
    }

    /// The replica that has received the most.
    private func mostAdvanced() async throws -> RestartableServer {
        var best: (server: RestartableServer, place: Int)?
        for replica in replicas {
            try await administer(replica) { client in
                let row = try await client.query(
                    """
                    SELECT pg_wal_lsn_diff(
                        greatest(coalesce(pg_last_wal_receive_lsn(), '0/0'), pg_last_wal_replay_lsn()), '0/0')::bigint
                    """)[0]
                let place = try row.decode(0, as: Int.self) ?? 0
                if best.map({ place > $0.place }) ?? true { best = (replica, place) }
            }
        }
        guard let best else { throw Failure(text: "no replica answers") }
        return best.server
    }

    /// Has a server take no writes; returns once its last transaction that wrote has ended, and the replicas have all.
    private func endWrites(_ server: RestartableServer) async throws {
        try await administer(server) { client in
            try await client.runScript("ALTER SYSTEM SET default_transaction_read_only = on")
            try await client.query("SELECT pg_reload_conf()")
            // Until all sessions have heard of it.
            try await Task.sleep(for: .milliseconds(300))
            let heardAt = try await client.value("SELECT clock_timestamp()::text")
            try await eventually("the transactions of before have ended") {
                try await client.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE usename = 'app' AND xact_start < \(heardAt)::timestamptz
                        AND clock_timestamp() > \(heardAt)::timestamptz + interval '2 seconds'
                    """)
                return try await client.value(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE usename = 'app' AND xact_start < \(heardAt)::timestamptz
                    """) == 0
            }
            try await eventually("the replicas have all") {
                try await client.value(
                    "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_flush_lsn()") == 2
            }
        }
    }

    /// Replaces all servers by servers of another version, or of the same: by a dump, which the new servers restore.
    ///
    /// - Parameter programs: the folder of the new servers' programs; nil for those of the servers before.
    func upgrade(to programs: String?) async throws {
        let (before, old) = (all, primary)
        let programs = programs ?? old.programs
        func start(following primary: RestartableServer? = nil) async throws -> RestartableServer {
            let server = try await RestartableServer(
                following: primary, settings: Self.settings, accessRules: primary == nil ? Self.accessRules : [],
                hasSmallDisk: hasSmallDisk, smallDiskAt: hasSmallDisk ? disk : nil, programs: programs)
            try await server.start()
            return server
        }
        let new = try await start()
        var made = [new]
        do {
            try await lend(Self.alone(new)) { client in
                try await client.runScript("CREATE ROLE app LOGIN PASSWORD '\(vault.current)'")
            }
            let psql = "\(old.programs)/psql -h \(new.folder) -U postgres -X -q -v ON_ERROR_STOP=1 -d postgres"
            try await new.run(
                """
                \(old.programs)/pg_dump -h \(old.folder) -U postgres -f \(new.folder)/dump.sql postgres &&
                PGOPTIONS='-c synchronous_commit=local' \(psql) -f \(new.folder)/dump.sql
                """)
            // The triggers came along; which tables they are of has to be said again.
            try await lend(Self.alone(new)) { try await Tracking($0).enable(SoakSchema.tracked) }
            for _ in 0..<2 { made.append(try await start(following: new)) }
        } catch {
            for server in made { try? await server.remove() }
            throw error
        }
        state.withLock { $0 = State(servers: made) }
        try address.lead(to: new.configuration)
        try await waitForReplicas()
        for server in before { try await server.remove() }
    }
}

extension RestartableServer {
    /// Has the server, which is stopped, follow another with the files that it has.
    fileprivate func follow(_ primary: RestartableServer) async throws {
        try await run(
            """
            touch \(folder)/data/standby.signal
            echo "primary_conninfo = 'host=\(primary.folder) user=postgres'" >>\(folder)/data/postgresql.auto.conf
            """)
    }

    /// Makes the server, which is stopped, a replica of another from a copy of its files.
    fileprivate func copy(_ primary: RestartableServer) async throws {
        try await run(
            """
            rm -rf \(folder)/data || exit 1
            \(programs)/pg_basebackup -D \(folder)/data -h \(primary.folder) -U postgres -R -X stream -c fast \
                --no-sync || exit 1
            echo "unix_socket_directories = '\(folder)'" >>\(folder)/data/postgresql.conf
            """)
    }
}
