import KindredPostgres

/// A process that creates databases on a shared server.
///
/// While it runs, one of its sessions holds an advisory lock, so that other processes can recognise the stale databases
/// of ended processes.
final class TestRun: Sendable {
    /// Part of the names of its databases.
    let name: String
    private let client: PostgresClient
    private let session: Task<Void, any Error>

    /// The first half of the locks' keys; the second is the run's number.
    static let lockClass: Int32 = 1_265_200_740

    init(_ configuration: PostgresConfiguration) async throws {
        let number = Int32.random(in: 1...Int32.max)
        name = String(number, radix: 36)
        var configuration = configuration
        configuration.pool.maximumConnections = 1
        let client = try await PostgresClient.connect(configuration)
        self.client = client
        let (locked, signal) = AsyncThrowingStream.makeStream(of: Void.self)
        session = Task.detached {
            try await client.withConnection { connection in
                do {
                    try await connection.query("SELECT pg_advisory_lock(\(Self.lockClass)::int4, \(number)::int4)")
                    signal.finish()
                } catch {
                    signal.finish(throwing: error)
                }
                // Until the process ends.
                try await Task.sleep(for: .seconds(1_000_000_000))
            }
        }
        for try await _ in locked {}
    }

    deinit {
        session.cancel()
    }

    /// Drops stale databases of ended processes; databases that the role may not drop stay.
    static func dropDatabasesOfEndedRuns(over client: PostgresClient) async {
        guard
            let names = try? await client.query(
                """
                SELECT datname::text FROM pg_database
                WHERE datname ~ '^kindred_(test|template)_[0-9a-z]{1,6}_[0-9]+$'
                """
            ).compactMap({ try $0.decode(0, as: String.self) }), !names.isEmpty
        else { return }
        // Read after the databases: a process takes its lock before it creates any, so no running one is missed.
        guard
            let locks = try? await client.query(
                "SELECT objid::int8 FROM pg_locks WHERE locktype = 'advisory' AND classid::int8 = \(Int64(lockClass))")
        else { return }
        let running = Set(locks.compactMap { try? $0.decode(0, as: Int.self) })
        for name in names {
            guard let number = Int(name.split(separator: "_")[2], radix: 36), !running.contains(number) else {
                continue
            }
            _ = try? await client.query("DROP DATABASE IF EXISTS \(identifier: name)")
        }
    }
}
