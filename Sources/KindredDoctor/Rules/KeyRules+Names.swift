import KindredPostgres
import KindredSchema

// Names that differ by case only, and names that were cut.
extension KeyChecks {
    static func checkCase(_ run: inout RuleRun) {
        let examination = run.examination
        let schemas = Dictionary(grouping: examination.sortedRelations, by: \.schema)
        for relations in schemas.values {
            for group in Dictionary(grouping: relations, by: { $0.name.lowercased() }).values where group.count > 1 {
                guard let first = group.first else { continue }
                let others = group.dropFirst().map(\.name).joined(separator: ", ")
                run.report(
                    first, subjects: group.map { .relation($0.oid) },
                    "The name of \(first.qualifiedName) differs from \(others) by the case of its letters alone",
                    facts: [("names", group.map(\.name).joined(separator: ", "))])
            }
        }
        for relation in examination.sortedRelations where !relation.isPartition {
            let columns = Dictionary(grouping: examination.columns(of: relation.oid)) { $0.name.lowercased() }
            for group in columns.values where group.count > 1 {
                guard let first = group.first else { continue }
                run.report(
                    relation, object: first.name, subjects: group.map { .column(relation.oid, $0.number) },
                    "The columns \(group.map(\.name).joined(separator: ", ")) of \(relation.qualifiedName) differ by the case "
                        + "of their letters alone",
                    facts: [("names", group.map(\.name).joined(separator: ", "))])
            }
        }
    }

    static func checkLength(_ run: inout RuleRun) {
        let examination = run.examination
        for relation in examination.sortedRelations where !relation.isPartition {
            if isCut(relation.name) {
                run.report(
                    relation, "The name of \(relation.qualifiedName) may be cut off", facts: length(relation.name))
            }
            for column in examination.columns(of: relation.oid) where isCut(column.name) {
                run.report(
                    relation, object: column.name, subjects: [.column(relation.oid, column.number)],
                    "The name of the column \(column.name) of \(relation.qualifiedName) may be cut off",
                    facts: length(column.name))
            }
            for key in examination.foreignKeys(of: relation.oid) where isCut(key.name) {
                run.report(
                    relation, object: key.name, subjects: [.constraint(key.oid)],
                    "The name of the foreign key \(key.name) of \(relation.qualifiedName) may be cut off",
                    facts: length(key.name))
            }
        }
    }

    private static func length(_ name: String) -> [(String, String)] {
        [("bytes", "\(name.utf8.count), of at most 63")]
    }

    /// PostgreSQL cuts between characters, so that up to three bytes may be missing from 63.
    private static func isCut(_ name: String) -> Bool {
        let count = name.utf8.count
        return count == 63 || count > 59 && !name.utf8.allSatisfy { $0 < 0x80 }
    }
}
