import KindredPostgres

/// A process that makes databases on a server which others use too: as long as it runs, it has a session that holds an
/// advisory lock of its own, so that others see whose databases nobody needs any more.
final class TestRun: Sendable {
    /// Part of the names of its databases.
    let name: String
    private let client: PostgresClient
    private let session: Task<Void, any Error>

    /// The first half of the locks' keys; the other is the run's number.
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

    /// Drops databases that processes left behind which have ended; whose they are not to drop stay.
    static func dropDatabasesOfEndedRuns(over client: PostgresClient) async {
        guard
            let names = try? await client.query(
                """
                SELECT datname::text FROM pg_database
                WHERE datname ~ '^kindred_(test|template)_[0-9a-z]{1,6}_[0-9]+$'
                """
            ).compactMap({ try $0.decode(0, as: String.self) }), !names.isEmpty
        else { return }
        // Looked at afterwards: whose databases were seen had its lock before it made them.
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
