import KindredPostgres

/// The session's advisory lock that lets one process at a time apply migrations to a database, or to a tenant of it.
struct MigrationLock {
    private let client: PostgresClient
    /// "kindred" in ASCII, one byte short of a number of 64 bits; with a tenant's name mixed in by FNV-1a.
    private let key: Int64

    init(_ client: PostgresClient, ofTenant tenant: String? = nil) {
        self.client = client
        key = (tenant ?? "").utf8.reduce(0x6B_69_6E_64_72_65_64) { ($0 ^ Int64($1)) &* 0x100_0000_01B3 }
    }

    /// Runs `body` with the lock, and gives it back.
    func hold<T>(within timeout: Duration, _ body: () async throws -> T) async throws -> T {
        try await take(within: timeout)
        do {
            let result = try await body()
            await release()
            return result
        } catch {
            await release()
            throw error
        }
    }

    /// Asks again and again, since a session that waits for the lock would be waited for by CREATE INDEX CONCURRENTLY.
    private func take(within timeout: Duration) async throws {
        guard client.configuration.pooler != .transaction else { throw Self.sessionNeeded }
        let end = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(20)
        while true {
            if try await tryToTake() { return }
            guard ContinuousClock.now < end else {
                throw MigrationError(
                    .locked, "Another process applies migrations, and has not come to its end within \(timeout).")
            }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    private func tryToTake() async throws -> Bool {
        do {
            let rows = try await client.query("SELECT pg_catalog.pg_try_advisory_lock(\(key))")
            return try rows.first?.decode(0, as: Bool.self) == true
        } catch let error as PostgresError {
            let lacking = error.lacking(.advisoryLocks)
            throw lacking.code == .unsupported ? MigrationError(.unsupported, lacking.message) : error
        }
    }

    /// Throws if the present session did not take the lock, as behind a pooler in transaction mode.
    func check() async throws {
        let rows = try await client.query(
            """
            SELECT EXISTS (SELECT FROM pg_catalog.pg_locks AS l
                WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid()
                    AND l.granted AND l.objsubid OPERATOR(pg_catalog.=) 1
                    AND ((l.classid::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32) OPERATOR(pg_catalog.|) l.objid::pg_catalog.int8)
                        OPERATOR(pg_catalog.=) \(key))
            """)
        guard try rows.first?.decode(0, as: Bool.self) == true else {
            throw Self.sessionNeeded
        }
    }

    private static var sessionNeeded: MigrationError {
        MigrationError(
            .locked,
            "The session is not the one that took the lock. Migrations need a session of their own: connect to the "
                + "server itself, not to a pooler in transaction mode.")
    }

    /// Gives the lock back; a session that has ended has done so.
    private func release() async {
        // A task of its own would be outside of the connection that holds the lock.
        _ = try? await client.query("SELECT pg_catalog.pg_advisory_unlock(\(key))")
    }
}
