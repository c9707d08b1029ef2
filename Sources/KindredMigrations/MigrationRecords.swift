import KindredPostgres

/// A file that has run, or begun to.
struct MigrationRecord: Sendable {
    let number: Int64
    let name: String
    /// Whether the file is unchanged since it ran; nil if there is none.
    let isSame: Bool?
    let isFinished: Bool
    let appliedAt: String
}

/// The table of the files that have run: in the schema that belongs to Kindred and holds no entities, or in the schema
/// of a tenant, where the table is no entity.
///
/// The database's owner decides its search path; so operators, functions and types are named with their schema.
struct MigrationRecords {
    /// The table's name in the schemas of tenants; the queries of the catalog leave it out.
    static let nameInTenants = "kindred_migration"

    let client: PostgresClient
    /// The schema of a tenant; nil for the database's own files.
    let tenant: String?
    /// The role whose table is used besides one of the caller or of a superuser.
    let owner: String?

    init(_ client: PostgresClient, ofTenant tenant: String? = nil, owner: String?) {
        self.client = client
        self.tenant = tenant
        self.owner = owner
    }

    private var schema: String { tenant ?? "kindred" }
    private var name: String { tenant == nil ? "migration" : Self.nameInTenants }
    private var table: SQL { "\(identifier: schema).\(identifier: name)" }

    /// Makes the table, if there is none.
    ///
    /// Throws `.otherOwner`, before the table is used, if it belongs to a role that is not trusted, or runs code that
    /// other roles have made.
    func makeTable() async throws {
        guard try await !isThere() else { return }
        if tenant == nil { try await client.query("CREATE SCHEMA IF NOT EXISTS kindred") }
        try await client.query(
            """
            CREATE TABLE \(table) (
                number pg_catalog.int8 PRIMARY KEY,
                name pg_catalog.text NOT NULL,
                checksum pg_catalog.text NOT NULL,
                started_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
                finished_at pg_catalog.timestamptz
            )
            """)
        try await client.query(
            "COMMENT ON TABLE \(table) IS 'The files of SQL that have run; written by Kindred.'")
    }

    /// Whether there is a table; one of a role that is not trusted, or in a schema of such a role, is refused.
    ///
    /// The schema of a tenant may belong to the tenant.
    private func isThere() async throws -> Bool {
        let pattern = tenant == nil ? name : #"kindred\_migration"#
        let foreign = HelperSchema.foreignObject(in: schema, like: pattern, owner: owner, checksSchema: tenant == nil)
        let rows = try await client.query(
            """
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
                    ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
                WHERE n.nspname OPERATOR(pg_catalog.=) \(schema) AND c.relname OPERATOR(pg_catalog.=) \(name)),
                (\(foreign))
            """)
        if let problem = try rows.first?.decode(1, as: String.self) {
            throw MigrationError(.otherOwner, "\(problem). \(HelperSchema.remedy).")
        }
        return try rows.first?.decode(0, as: Bool.self) ?? false
    }

    /// Reads the records, if there is a table of them, and compares them with files.
    func readIfThere(comparing files: [MigrationFile]) async throws -> [MigrationRecord] {
        try await isThere() ? read(comparing: files) : []
    }

    /// Reads the records, and whether files are unchanged since they ran: the server makes the checksums of both.
    func read(comparing files: [MigrationFile]) async throws -> [MigrationRecord] {
        let rows = try await client.query(
            """
            SELECT m.number, m.name, m.checksum OPERATOR(pg_catalog.=) pg_catalog.encode(pg_catalog.sha256(f.text), 'hex'),
                m.finished_at IS NOT NULL, pg_catalog.date_trunc('second', m.started_at)::pg_catalog.text
            FROM \(table) AS m
            LEFT JOIN ROWS FROM (pg_catalog.unnest(\(files.map(\.number))), pg_catalog.unnest(\(files.map(\.text))))
                AS f (number, text) ON f.number OPERATOR(pg_catalog.=) m.number
            ORDER BY m.number
            """)
        return try rows.map { row in
            MigrationRecord(
                number: try row.decode(0, as: Int64.self) ?? 0, name: try row.decode(1, as: String.self) ?? "",
                isSame: try row.decode(2, as: Bool.self),
                isFinished: try row.decode(3, as: Bool.self) ?? false,
                appliedAt: try row.decode(4, as: String.self) ?? "")
        }
    }

    /// Records a file, as done or as begun.
    func add(_ file: MigrationFile, isFinished: Bool) async throws {
        try await client.query(
            """
            INSERT INTO \(table) (number, name, checksum, finished_at)
            VALUES (\(file.number), \(file.name), pg_catalog.encode(pg_catalog.sha256(\(file.text)), 'hex'),
                CASE WHEN \(isFinished) THEN pg_catalog.clock_timestamp() END)
            """)
    }

    /// Records files that another tool has run.
    func add(_ files: [MigrationFile]) async throws {
        try await client.query(
            """
            INSERT INTO \(table) (number, name, checksum, finished_at)
            SELECT f.number, f.name, pg_catalog.encode(pg_catalog.sha256(f.text), 'hex'), pg_catalog.clock_timestamp()
            FROM ROWS FROM (pg_catalog.unnest(\(files.map(\.number))), pg_catalog.unnest(\(files.map(\.name))),
                pg_catalog.unnest(\(files.map(\.text)))) AS f (number, name, text)
            """)
    }

    func finish(_ file: MigrationFile) async throws {
        try await client.query(
            """
            UPDATE \(table) SET finished_at = pg_catalog.clock_timestamp()
            WHERE number OPERATOR(pg_catalog.=) \(file.number)
            """)
    }

    /// Returns how many records were concerned.
    func resolve(_ number: Int64, isDone: Bool) async throws -> Int {
        guard try await isThere() else { return 0 }
        if isDone {
            return try await client.query(
                """
                UPDATE \(table) SET finished_at = pg_catalog.clock_timestamp()
                WHERE number OPERATOR(pg_catalog.=) \(number) AND finished_at IS NULL
                """
            ).affectedRows
        }
        return try await client.query(
            "DELETE FROM \(table) WHERE number OPERATOR(pg_catalog.=) \(number) AND finished_at IS NULL"
        ).affectedRows
    }
}
