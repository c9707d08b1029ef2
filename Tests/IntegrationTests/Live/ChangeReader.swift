import Kindred
import KindredLive
import KindredTesting

/// A record of the outbox, as the reading statement gives it.
struct ChangeRecord: Equatable, CustomStringConvertible {
    var table: String
    var operation: String
    var keys: [String]?
    var newKeys: [String]?
    var columns: [String]?
    var reason: String?

    init(
        _ operation: String, _ table: String, _ keys: [String]? = nil, newKeys: [String]? = nil,
        columns: [String]? = nil, reason: String? = nil
    ) {
        self.table = table
        self.operation = operation
        self.keys = keys
        self.newKeys = newKeys
        self.columns = columns
        self.reason = reason
    }

    var description: String {
        "\(operation) \(table) \(keys ?? ["*"]) \(newKeys ?? []) \(columns ?? []) \(reason ?? "")"
    }
}

/// Reads as the library's reader does: the records that became visible since a cursor, in one statement.
struct ChangeReader {
    let client: PostgresClient
    var cursor: String
    /// Why the last cursor was of no use.
    var refusal: String?
    /// Whether the last reading has to wait for the disk.
    var isUnsafe = false

    init(_ client: PostgresClient) async throws {
        self.client = client
        cursor = try await client.query("SELECT kindred.tracking_begin()::text").first?.decode(0, as: String.self) ?? ""
    }

    /// The records since the last reading; without records of DDL, which depend on the role's rights.
    mutating func read(limit: Int64 = 10_000) async throws -> [ChangeRecord] {
        let rows = try await client.query(
            """
            SELECT r.snapshot::text, r.reason, r.unsafe, r.op::text, c.relname::text, r.keys, r.new_keys, r.columns
            FROM kindred.tracking_read(\(cursor)::text::pg_snapshot, \(limit)::int4) AS r
            LEFT JOIN pg_class AS c ON c.oid = r.relation
            """)
        var records: [ChangeRecord] = []
        for row in rows {
            if let next = try row.decode(0, as: String.self) {
                cursor = next
                refusal = try row.decode(1, as: String.self)
                isUnsafe = try row.decode(2, as: Bool.self) ?? false
                continue
            }
            var record = ChangeRecord(
                try row.decode(3, as: String.self) ?? "", try row.decode(4, as: String.self) ?? "",
                try row.decode(5, as: [String].self))
            record.newKeys = try row.decode(6, as: [String].self)
            record.columns = try row.decode(7, as: [String].self)
            record.reason = try row.decode(1, as: String.self)
            if record.operation != "S" { records.append(record) }
        }
        return records
    }
}

/// Installs change tracking in the test's database, and lends a reader that has its place.
func withTracking(
    _ tables: String...,
    body: (_ database: Database, _ other: PostgresClient, _ reader: inout ChangeReader) async throws -> Void
) async throws {
    try await withDatabase { database, _, other in
        try await database.tracking.install()
        try await database.tracking.enable(tables)
        var reader = try await ChangeReader(database.client)
        try await body(database, other, &reader)
    }
}
