public import Kindred
import KindredPostgres

extension Database {
    /// Makes the schema of a new tenant by running migrations in it.
    ///
    /// ```swift
    /// let tenant = try await database.createTenant("acme", migrations: Migrations(folder: "Tenants"))
    /// let context = tenant.makeContext()
    /// ```
    ///
    /// The files must be the template's; ``Migrations/apply(toTenants:of:limit:)`` says how they run in a schema. All
    /// of it is one transaction, over a connection of its own. If the transaction fails, or if a file runs without a
    /// transaction, each file runs by itself: some statements need earlier statements to be committed, as the use of a
    /// new label of an enum does. If that fails, too, or if the new schema does not fit the classes, the schema is
    /// dropped. It stays only if the process or the connection ends in between; `dropTenant` drops it.
    ///
    /// A copy of the template's definitions without migrations is not made: `pg_dump --schema-only` is the tool for that.
    ///
    /// - Parameters:
    ///   - name: The schema's name.
    ///   - migrations: The folder of the tenants' files.
    /// - Returns: The tenant, whose schema has been read. Statements: seven for the schema, the lock and the records;
    ///   each file's as ``Migrations/apply(to:)`` sends them; and the statements of `tenant(_:)`.
    /// - Throws: `KindredError` `.invalidRequest` and `.notFound`, before anything is made, for a name that no tenant
    ///   can have: a name that `tenant(_:)` refuses, `public`, `$user`, an empty name, or a name of more than 63 bytes;
    ///   `.classMismatch`; ``MigrationError`` `.failed` with file and line if a statement fails, `.exists` if there is
    ///   such a schema already, `.invalidFolder`, `.invalidFile`, `.locked`; `PostgresError` `.invalidParameter` in a
    ///   transaction, and `.commitUnknown` if the answer to COMMIT was lost: look whether the schema is there.
    @discardableResult
    public func createTenant(_ name: String, migrations: Migrations) async throws -> SchemaTenant {
        let path = try sharedPath(besidesTenant: name)
        guard !client.isInTransaction else {
            throw PostgresError(.invalidParameter, "A tenant is made in a transaction of its own; do it outside of one")
        }
        let files = try migrations.files()
        try await client.withTenant(name, before: path) { own in
            try await own.withConnection { _ in
                let lock = MigrationLock(own, ofTenant: name)
                try await lock.hold(within: migrations.lockTimeout) {
                    try await TenantCreation(client: own, name: name, lock: lock).run(files)
                }
            }
        }
        return try await undoing(name) { try await tenant(name) }
    }

    /// Drops the schema if `body` throws.
    private func undoing<T: Sendable>(_ name: String, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            // In a task of its own, so that it runs in a cancelled task, too.
            await Task { try? await dropTenant(name) }.value
            throw error
        }
    }
}

/// Makes one schema, over the connection that holds its lock.
private struct TenantCreation {
    let client: PostgresClient
    let name: String
    let lock: MigrationLock

    func run(_ files: [MigrationFile]) async throws {
        if files.allSatisfy(\.isTransaction) {
            do {
                return try await client.withTransaction { _ in
                    try await makeSchema()
                    try await apply(files)
                }
            } catch let error as MigrationError where error.code == .failed {
                // The transaction was rolled back; nothing of it is left.
            } catch let error as PostgresError where error.code == .server {
                // COMMIT refused it, and nothing of it is left; each file's own COMMIT tells which file was refused.
            }
        }
        try await makeSchema()
        do {
            try await apply(files)
        } catch {
            // Over a new connection: the present connection may be gone, or the task cancelled.
            let (client, name) = (client, name)
            await Task { await Self.drop(name, client.configuration) }.value
            throw error
        }
    }

    private func makeSchema() async throws {
        do {
            try await client.query("CREATE SCHEMA \(identifier: name)")
        } catch let error as PostgresError where error.sqlState?.rawValue == "42P06" {
            throw MigrationError(.exists, "There is a schema \(name) already.")
        }
    }

    private func apply(_ files: [MigrationFile]) async throws {
        let records = MigrationRecords(client, ofTenant: name, owner: nil)
        try await records.makeTable()
        for file in files { try await MigrationRun(records: records, lock: lock).run(file) }
    }

    private static func drop(_ name: String, _ configuration: PostgresConfiguration) async {
        guard let other = try? await PostgresClient.connect(configuration) else { return }
        _ = try? await other.query("DROP SCHEMA IF EXISTS \(identifier: name) CASCADE")
        await other.close()
    }
}
