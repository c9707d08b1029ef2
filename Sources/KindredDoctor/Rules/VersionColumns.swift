import Foundation
import KindredDDL
import KindredPostgres
import KindredSchema

/// K503: columns that look like versions by which concurrent changes could be detected.
enum VersionColumns {
    private static let names: Set<ServerText> = ["version", "lock_version", "row_version", "lockVersion", "rowVersion"]

    static func check(_ run: inout RuleRun) {
        let examination = run.examination
        let oldVersions = OldVersions(examination)
        for entity in examination.schema.entities
        where entity.kind == .table && entity.optimisticLocking == nil && !entity.primaryKey.isEmpty {
            guard let oid = examination.oid(of: entity.name), let relation = examination.relations[oid],
                !relation.hasUpdateTrigger
            else { continue }
            // A column by which rows are found is a number that they have, and does not count their changes.
            let keys =
                examination.foreignKeys(of: oid).flatMap(\.columns)
                + examination.indexes(of: oid).filter { $0.isUnique || $0.isExclusion }.flatMap(\.keyColumns)
            let candidates = examination.columns(of: oid).filter { column in
                names.contains(column.name) && column.isNotNull && !column.isGenerated && !column.isIdentity
                    && [20, 21, 23].contains(examination.baseType(column.type)) && !keys.contains(column.number)
                    && !entity.primaryKey.contains(column.name) && entity.attribute(named: column.name) != nil
            }
            guard candidates.count == 1, let column = candidates.first, !oldVersions.contains(relation),
                !isNamedAfterVersions(relation)
            else { continue }
            run.report(
                relation, object: column.name, subjects: [.column(oid, column.number)],
                "The column \(column.name) of \(relation.qualifiedName) looks like a version, and is not declared as one",
                facts: [("type", column.typeName)],
                repair: {
                    let comment = examination.facts.comments[.column(oid, column.number)]
                    // It cannot be lazy.
                    if comment.flatMap(DoctorAnnotation.init)?.members["lazy"] as? Bool == true { return [] }
                    guard let text = DoctorAnnotation.adding(["version": true], to: comment) else { return [] }
                    let name = "\(try RepairText.name(relation)).\(try RepairText.name(column.name))"
                    return ["COMMENT ON COLUMN \(name) IS \(DDL.literal(text))"]
                })
        }
    }

    /// Whether each row of a table is a version of something, by the table's name: doc_versions or DocHistory.
    private static func isNamedAfterVersions(_ relation: DoctorCatalog.Relation) -> Bool {
        ["version", "revision", "history", "versions", "revisions", "histories"].contains { word in
            relation.name.hasSuffix("_\(word)") || relation.name.hasSuffix(word.capitalized)
        }
    }
}

/// Tables that keep earlier versions of other tables' rows: their rows are not changed, and stay when the other tables'
/// rows go.
struct OldVersions {
    private let examination: Examination
    private let tables: [DoctorCatalog.Relation]

    init(_ examination: Examination) {
        self.examination = examination
        tables = examination.sortedRelations.filter {
            ($0.holdsRows || $0.isPartitioned) && !$0.isPartition
        }
    }

    func contains(_ relation: DoctorCatalog.Relation) -> Bool {
        tables.contains { isNamed(relation, after: $0) && keeps(relation, rowsOf: $0) }
    }

    private func isNamed(_ relation: DoctorCatalog.Relation, after other: DoctorCatalog.Relation) -> Bool {
        guard other.oid != relation.oid else { return false }
        if other.schema != relation.schema { return other.name == relation.name }
        return relation.name.hasPrefix(other.name + "_") || relation.name.hasSuffix("_" + other.name)
    }

    /// Whether a table has all columns of another table except its key, and several rows for each of that table's rows.
    private func keeps(_ relation: DoctorCatalog.Relation, rowsOf other: DoctorCatalog.Relation) -> Bool {
        guard let key = examination.indexes(of: other.oid).first(where: \.isPrimary) else { return false }
        let values = examination.columns(of: other.oid).filter { !key.keyColumns.contains($0.number) }
        guard !values.isEmpty, values.allSatisfy({ own($0, in: relation) != nil }) else { return false }
        let copied = examination.columns(of: other.oid).filter { key.keyColumns.contains($0.number) }
            .compactMap { own($0, in: relation)?.number }
        return copied.count < key.keyCount
            || !examination.indexes(of: relation.oid).contains { index in
                index.isUnique && index.keyColumns.allSatisfy { copied.contains($0) }
            }
    }

    private func own(_ column: DoctorCatalog.Column, in relation: DoctorCatalog.Relation) -> DoctorCatalog.Column? {
        examination.column(named: column.name, of: relation.oid).flatMap { found in
            examination.baseType(found.type) == examination.baseType(column.type) ? found : nil
        }
    }
}
