import KindredDDL
import KindredPostgres
import KindredSchema

/// Writes the statements that repair findings.
enum RepairText {
    static func name(_ name: String) throws -> String { try SQLIdentifier.quote(name) }

    static func name(_ relation: DoctorCatalog.Relation) throws -> String {
        try self.name(schema: relation.schema, relation.name)
    }

    static func name(schema: String, _ name: String) throws -> String {
        "\(try self.name(schema)).\(try self.name(name))"
    }

    static func list(_ names: [String]) throws -> String {
        try names.map { try name($0) }.joined(separator: ", ")
    }

    /// CREATE INDEX, which nothing else has to wait for unless the table is partitioned.
    static func createIndex(
        _ index: String, on table: DoctorCatalog.Relation, _ columns: [String], isUnique: Bool = false
    ) throws -> String {
        let concurrently = table.isPartitioned ? "" : " CONCURRENTLY"
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX\(concurrently) IF NOT EXISTS \(try name(index)) "
            + "ON \(try name(table)) (\(try list(columns)))"
    }

    static func alter(_ table: DoctorCatalog.Relation, _ what: String) throws -> String {
        "ALTER TABLE \(try name(table)) \(what)"
    }

    /// The statement that gives a constraint its comment back when the constraint was made anew; none if it has no
    /// comment.
    static func comment(
        on name: String, _ oid: UInt32, of table: DoctorCatalog.Relation, in examination: Examination
    ) throws -> [String] {
        guard let text = examination.facts.comments[.constraint(oid)] else { return [] }
        return [try comment(on: name, of: table, text)]
    }

    static func comment(on constraint: String, of table: DoctorCatalog.Relation, _ text: String) throws -> String {
        "COMMENT ON CONSTRAINT \(try name(constraint)) ON \(try name(table)) IS \(DDL.literal(text))"
    }

    /// Fixes a function's search path to its own schema, with the temporary one last.
    static func pinPath(of function: DoctorCatalog.Function) throws -> String {
        "ALTER ROUTINE \(try name(schema: function.schema, function.name))(\(function.arguments)) SET search_path = "
            + "\(try name(function.schema)), pg_temp"
    }

    /// A name of at most 63 bytes for an index, constraint or column, as PostgreSQL makes them: parts joined by `_`.
    static func made(of parts: [String], isTaken: (String) -> Bool) -> String {
        for number in 0... {
            let suffix = "_\(parts.last ?? "idx")" + (number == 0 ? "" : "\(number)")
            var stem = parts.dropLast().joined(separator: "_")
            while !stem.isEmpty, stem.utf8.count + suffix.utf8.count > SQLIdentifier.maximumBytes {
                stem.unicodeScalars.removeLast()
                // Two underscores in a constraint's name would part the names of a relationship's two ends.
                while stem.hasSuffix("_") { stem.removeLast() }
            }
            if !isTaken(stem + suffix) { return stem + suffix }
        }
        return ""
    }
}
