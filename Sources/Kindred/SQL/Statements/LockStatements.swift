import KindredPostgres
import KindredSchema

/// Statements that ask the server about row locks.
enum LockStatements {
    /// `SELECT key FROM … WHERE key IN (…) FOR NO KEY UPDATE SKIP LOCKED`: the keys of rows that can be locked.
    static func free(_ entity: EntityRuntime, _ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.shardKeys(keys, of: entity.key, in: entity)
        return try parameters.statement("free rows", in: entity) {
            """
            SELECT \(try entity.texts.selectList(of: entity.key, alias: "t")) \
            FROM \(try entity.all(as: .row, .all).from(where: try keys.condition("t"))) FOR NO KEY UPDATE OF t SKIP LOCKED
            """
        }
    }
}
