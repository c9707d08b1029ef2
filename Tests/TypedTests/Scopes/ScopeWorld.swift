import Kindred
import KindredTesting
import TypeModels

/// Keepers, pets and clubs whose columns have few values and many NULLs, so that a column of another object seldom gives the same.
enum ScopeWorld {
    static let schema = "../../TypeModels/schema.sql"

    static let rows = """
        INSERT INTO club SELECT i, CASE i % 4 WHEN 3 THEN NULL ELSE chr(96 + i % 3) END FROM generate_series(1, 5) AS i;
        INSERT INTO keeper (id, name, code, age, rank, size, visible, numbers, boss_id, club_id)
        SELECT i, CASE WHEN i % 5 > 0 THEN chr(96 + i % 4) END, chr(96 + i % 3), CASE WHEN i % 4 > 0 THEN i % 5 END, i % 3,
            i % 6, i % 2 = 0, ARRAY[i % 3, i % 5], CASE WHEN i % 3 > 0 THEN 1 + i * 7 % 14 END, 1 + i % 5
        FROM generate_series(1, 14) AS i;
        INSERT INTO pet SELECT i, CASE WHEN i % 6 > 0 THEN chr(96 + i % 4) END, CASE WHEN i % 5 > 0 THEN i % 5 END,
            CASE WHEN i % 9 > 0 THEN 1 + i * i * 5 % 13 END FROM generate_series(1, 30) AS i;
        INSERT INTO membership SELECT k, c FROM generate_series(1, 14) AS k, generate_series(1, 5) AS c WHERE k * c % 3 <> 1;
        INSERT INTO badge SELECT i, chr(96 + i % 3), i * 2 FROM generate_series(1, 6) AS i;
        """

    /// Lends the rows, a context, and a connection that asks the server directly.
    static func open(
        _ body: (_ database: Database, _ context: DatabaseContext, _ plain: PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let plain = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
            do {
                for statement in rows.split(separator: ";") { try await plain.query(SQL(unsafeRaw: String(statement))) }
                try await body(database, context, plain)
            } catch {
                await plain.close()
                throw error
            }
            await plain.close()
        }
    }
}

extension PostgresClient {
    /// The first column of a query's rows, as text.
    func texts(_ sql: String) async throws -> [String] {
        try await query(SQL(unsafeRaw: sql)).map { row in try row[0].map { "\($0)" } ?? "nil" }
    }

    /// The rows of a table after a statement that is rolled back.
    func table(_ name: String, after statement: String) async throws -> [String] {
        struct Rollback: Error { let rows: [String] }
        do {
            try await withTransaction { transaction in
                try await transaction.query(SQL(unsafeRaw: statement))
                let rows = try await transaction.query(SQL(unsafeRaw: "SELECT t::text FROM \(name) t ORDER BY t.id"))
                throw Rollback(rows: try rows.map { row in try row[0].map { "\($0)" } ?? "nil" })
            }
        } catch let error as Rollback {
            return error.rows
        }
        return []
    }
}
