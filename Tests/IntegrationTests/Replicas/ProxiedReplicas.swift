import Foundation
import Kindred
import Synchronization
import Testing

/// A primary and two replicas behind proxies, which count the reads of people, and may swallow some.
///
/// Each read of people has its text on its way, as no statement is prepared.
final class ProxiedReplicas: Sendable {
    private struct Line {
        /// The reads that were sent.
        var reads = 0
        /// How many of the next reads are lost.
        var losses = 0
    }

    let scene: ReplicaScene
    let database: Database
    /// Before the primary, and each replica.
    let proxies: [FaultProxy]
    private let lines: Mutex<[Line]>

    /// Tables and views of these tests: reads of `pause` last on the servers whose folder is in `sleeper`.
    private static let tables = """
        CREATE TABLE sleeper (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, folder text NOT NULL, seconds float8 NOT NULL);
        CREATE VIEW pause AS SELECT id, name, pg_sleep(coalesce((SELECT max(seconds) FROM sleeper
            WHERE folder = current_setting('data_directory')), 0))::text AS pause FROM person WHERE id = 1;
        """

    private init(_ scene: ReplicaScene, change: (inout PostgresConfiguration, Int) -> Void) async throws {
        self.scene = scene
        let servers = [scene.primary] + scene.servers
        proxies = try servers.map { try FaultProxy(to: $0.configuration) }
        lines = Mutex(servers.map { _ in Line() })
        var configurations = proxies.map(\.configuration)
        for number in configurations.indices {
            configurations[number].statementCacheCapacity = 0
            configurations[number].statementTimeout = .seconds(600)
            change(&configurations[number], number)
        }
        database = try await Database.connect(
            primary: configurations[0], replicas: Array(configurations.dropFirst()))
    }

    /// Lends them, once both replicas are read.
    ///
    /// - Parameter change: changes the configuration of a server: 0 is the primary.
    static func with(
        change: (inout PostgresConfiguration, Int) -> Void = { _, _ in }, _ body: (ProxiedReplicas) async throws -> Void
    ) async throws {
        try await ReplicaScene.with(replicas: 2) { scene in
            try await scene.writer.runScript(tables)
            let proxied = try await ProxiedReplicas(scene, change: change)
            do {
                for number in proxied.proxies.indices { proxied.watch(number) }
                try await proxied.everythingArrives()
                try await body(proxied)
            } catch {
                await proxied.end()
                throw error
            }
            await proxied.end()
        }
    }

    private func end() async {
        await database.close(timeout: .zero)
        for proxy in proxies { proxy.stop() }
    }

    /// Forwards a server's bytes, and counts its reads.
    func watch(_ number: Int) {
        proxies[number].set { [weak self] direction, bytes in
            guard let self, direction == .toServer,
                contains(bytes, #""person""#) || contains(bytes, #""pause""#)
            else { return .forward }
            return lines.withLock { lines in
                lines[number].reads += 1
                guard lines[number].losses > 0 else { return .forward }
                lines[number].losses -= 1
                // Its connection is silent from here on.
                return .stall
            }
        }
    }

    /// Waits until both replicas have replayed everything, and are known to.
    func everythingArrives() async throws {
        let position = try await scene.writer.query("SELECT pg_current_wal_flush_lsn()::text")[0].decode(
            0, as: String.self)
        for reader in scene.readers {
            try await eventually("the replica has everything") {
                try await reader.value("SELECT pg_last_wal_replay_lsn() >= \(position)::text::pg_lsn") == true
            }
        }
        try await eventually("both replicas are usable") {
            let replicas = database.readMetrics?.replicas ?? []
            return replicas.count == 2 && replicas.allSatisfy { $0.lag.map { $0 < .seconds(1) } ?? false }
        }
    }

    /// The reads that each server was sent.
    var reads: [Int] { lines.withLock { $0.map(\.reads) } }

    /// Has the network lose the next reads of a server.
    func lose(_ count: Int = 1, of number: Int) { lines.withLock { $0[number].losses = count } }

    /// The reads of a server that are still to be lost.
    func losses(of number: Int) -> Int { lines.withLock { $0[number].losses } }

    /// Has reads of `pause` last on servers; without any, on none.
    func sleep(_ seconds: Double, on numbers: [Int]) async throws {
        try await scene.writer.query("DELETE FROM sleeper")
        for number in numbers {
            let client = number == 0 ? scene.writer : scene.readers[number - 1]
            let folder = try await client.query("SHOW data_directory")[0].decode(0, as: String.self)
            try await scene.writer.query("INSERT INTO sleeper (folder, seconds) VALUES (\(folder), \(seconds))")
        }
        try await everythingArrives()
    }

    /// Whether sessions of a replica sleep.
    func isSleeping(_ number: Int) async throws -> Bool {
        let sleepers = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" as SQL
        return try await scene.readers[number - 1].value(sleepers) != 0
    }

    func readPeople() async throws { #expect(try await context().fetch("person").all().count == 2) }

    func readPause() async throws { #expect(try await context().fetch("pause").all().count == 1) }

    /// Reads so often that the time of the answers is known.
    func learnTimes(_ count: Int = 40) async throws {
        for _ in 0..<count {
            try await readPause()
            try await readPeople()
        }
    }

    /// Reads so often that another read may be asked again.
    func learnOfPeople() async throws {
        for _ in 0..<40 { try await readPeople() }
    }

    var metrics: ReadMetrics { get throws { try #require(database.readMetrics) } }

    func context() -> DatabaseContext { database.makeContext(reading: .automatic) }
}
