import EmbeddedPostgres
import Foundation
import Kindred
import Testing

/// An event of the night.
enum SoakEvent: String, CaseIterable {
    case migration = "a migration"
    case move = "the address moves"
    case crash = "the primary crashes"
    case liveFormer = "the address leaves a live server"
    case pausedReplicas = "replicas pause"
    case deadBackends = "backends die"
    case slowLists = "lists are slow"
    case deployment = "the program is deployed"
    case password = "the password changes"
    case fullDisk = "a disk is full"
    case upgrade = "the server is upgraded"

    /// Whether the machine allows it.
    func isPossible(_ servers: SoakServers) -> Bool { self != .fullDisk || servers.hasSmallDisk }

    func run(_ soak: Soak) async throws {
        let servers = soak.servers
        switch self {
        case .migration: try await migrate(servers)
        case .move: try await servers.move(.stopped, soak.books)
        case .crash: try await servers.move(.crashed, soak.books)
        case .liveFormer: try await servers.move(.readOnly, soak.books)
        case .pausedReplicas: try await pauseReplicas(servers)
        case .deadBackends:
            for _ in 0..<3 {
                try await endSessions(servers, share: 0.5)
                try await Task.sleep(for: .milliseconds(300))
            }
        case .slowLists: try await slowDown(servers)
        case .deployment: try await soak.deploy()
        case .password: try await changePassword(servers)
        case .fullDisk: try await fillDisk(servers)
        case .upgrade: try await upgrade(soak)
        }
    }

    /// Columns that come, go, get other names and types; an index; and two tables that are locked in the order that writers
    /// do not have.
    private func migrate(_ servers: SoakServers) async throws {
        let name = "added_\(UInt32.random(in: 0..<UInt32.max))"
        let steps = [
            "ALTER TABLE item ADD COLUMN \(name) integer NOT NULL DEFAULT 7",
            "ALTER TABLE account ALTER COLUMN remark TYPE text",
            "ALTER TABLE item RENAME COLUMN spare TO unused",
            "CREATE INDEX CONCURRENTLY \(name) ON item (value)",
            // One transaction, which may meet a writer that has locked an account and waits for the entries.
            "ALTER TABLE entry ALTER COLUMN remark TYPE text; ALTER TABLE account ALTER COLUMN remark SET DEFAULT ''",
            "ALTER TABLE account ALTER COLUMN remark DROP DEFAULT, ALTER COLUMN remark TYPE varchar(40)",
            "ALTER TABLE entry ALTER COLUMN remark TYPE varchar(40)",
            "ALTER TABLE item RENAME COLUMN unused TO spare",
            "DROP INDEX \(name)",
            "ALTER TABLE item DROP COLUMN \(name)",
        ]
        try await servers.administer { server in
            for step in steps {
                try await eventually("a step of the migration is done") {
                    do {
                        try await server.runScript(step)
                        return true
                    } catch let error as PostgresError where error.sqlState == .deadlockDetected {
                        return false
                    }
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// One replica replays nothing, and the other stands still as a whole.
    private func pauseReplicas(_ servers: SoakServers) async throws {
        let replicas = servers.replicas
        try await servers.administer(replicas[0]) { first in
            try await first.query("SELECT pg_wal_replay_pause()")
            var processes: [Int32] = []
            try await servers.administer(replicas[1]) { second in
                processes = try await second.query(
                    """
                    SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'app'
                    """
                ).compactMap { try $0.decode(0, as: Int32.self) }
            }
            for process in processes { try? await replicas[1].signal(SIGSTOP, process: process) }
            try await Task.sleep(for: .milliseconds(2_000))
            for process in processes { try? await replicas[1].signal(SIGCONT, process: process) }
            try await first.query("SELECT pg_wal_replay_resume()")
        }
    }

    /// Ends some of the program's sessions.
    private func endSessions(_ servers: SoakServers, share: Double) async throws {
        for server in [servers.primary] + servers.replicas {
            try await servers.administer(server) { server in
                _ = try await server.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app' AND random() < \(share)"
                )
            }
        }
    }

    /// A view takes longer than a question may, and a table is locked.
    private func slowDown(_ servers: SoakServers) async throws {
        try await servers.administer { server in
            try await server.query("UPDATE pace SET delay = 1.5")
            try await server.withTransaction { _ in
                try await server.query("LOCK TABLE shelf IN ACCESS EXCLUSIVE MODE")
                try await Task.sleep(for: .seconds(2))
            }
            try await server.query("UPDATE pace SET delay = 0")
        }
    }

    private func changePassword(_ servers: SoakServers) async throws {
        let password = "password-\(UInt64.random(in: 0..<UInt64.max))"
        try await servers.administer { server in
            try await server.runScript("ALTER ROLE app PASSWORD '\(password)'")
        }
        servers.vault.change(to: password)
        try await servers.pooler?.change(password: password)
        // New sessions have to log in.
        try await endSessions(servers, share: 0.7)
    }

    /// A table's disk has no room for some time.
    private func fillDisk(_ servers: SoakServers) async throws {
        let primary = servers.primary
        try await servers.administer { server in
            try await server.query("CREATE TABLESPACE small LOCATION '\(unsafeRaw: primary.smallDisk)'")
            try await server.query("ALTER TABLE note SET TABLESPACE small")
            // Of this table replicas have nothing, so that their disks have room.
            try await server.query("CREATE UNLOGGED TABLE filler (text text) TABLESPACE small")
            for (table, width, count) in [
                ("filler", 1500, 100), ("filler", 1500, 1), ("note", 1500, 1), ("note", 10, 1),
            ] {
                await expectPostgresError(.server) {
                    while true {
                        try await server.query(
                            """
                            INSERT INTO \(identifier: table) (\(unsafeRaw: table == "note" ? "tenant_id, text" : "text"))
                            SELECT \(unsafeRaw: table == "note" ? "0," : "") repeat('x', \(width))
                            FROM generate_series(1, \(count))
                            """)
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(1_500))
            try await server.query("DROP TABLE filler")
            try await server.query("DELETE FROM note WHERE tenant_id = 0")
            try await server.query("ALTER TABLE note SET TABLESPACE pg_default")
            try await server.query("DROP TABLESPACE small")
        }
    }

    /// Another server has the data, some of which changes before the program is there again; clients come with cursors of
    /// the former server.
    private func upgrade(_ soak: Soak) async throws {
        try await soak.stop()
        var newer: String?
        if let folder = ProcessInfo.processInfo.environment["KINDRED_SOAK_UPGRADE_BIN"], !folder.isEmpty {
            newer = try await PostgresInstallation.find(binFolder: folder).binFolder
        }
        try await soak.servers.upgrade(to: newer)
        try await soak.servers.administer { server in
            try await server.query("UPDATE item SET value = (value + 13) % 1000 WHERE id % 11 = 0")
            try await server.query("DELETE FROM note WHERE id = (SELECT min(id) FROM note WHERE tenant_id = 1)")
        }
        try await soak.deploy()
    }
}
