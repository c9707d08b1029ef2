import KindredPostgres
import KindredSchema

/// The unique indexes that foreign keys depend on, and the statements that move the keys to another index of the same
/// columns.
struct LeaningKeys {
    private let examination: Examination
    /// The keys, including partitions' keys, by the index of the referenced table.
    private let keys: [UInt32: [DoctorCatalog.ForeignKey]]

    init(_ examination: Examination) {
        self.examination = examination
        keys = Dictionary(grouping: examination.facts.foreignKeys, by: \.targetIndex)
    }

    func areOn(_ index: DoctorCatalog.Index) -> Bool { keys[index.oid] != nil }

    /// The keys on an index that are not part of a parent table's key, in the order of their names.
    func keys(on index: DoctorCatalog.Index) -> [DoctorCatalog.ForeignKey] {
        (keys[index.oid] ?? []).filter { $0.parent == 0 }.sorted { $0.name < $1.name }
    }

    /// Whether the keys can be made anew on another index: the primary key's, which REFERENCES without columns means.
    func mayMove(from index: DoctorCatalog.Index, to kept: DoctorCatalog.Index) -> Bool {
        kept.isPrimary && !kept.isDeferrable
            && keys(on: index).allSatisfy {
                !$0.hasPeriod && $0.isEnforced && examination.relations[$0.relation] != nil
            }
    }

    /// Makes keys anew on the primary key, and does something between the moment when none leans on the old index and
    /// the one when all rows are checked.
    func moving(
        _ keys: [DoctorCatalog.ForeignKey], to kept: DoctorCatalog.Index, of target: DoctorCatalog.Relation,
        _ between: () throws -> [String]
    ) throws -> [String] {
        var (statements, checks): ([String], [String]) = ([], [])
        for key in keys {
            guard let relation = examination.relations[key.relation] else { throw ForeignKeyText.UnknownTable() }
            let name = try RepairText.name(key.name)
            let definition = try ForeignKeyText.definition(key, inOrderOf: Array(kept.keyColumns), in: examination)
            // The rows of a partitioned table are checked at once.
            let isLate = !relation.isPartitioned
            statements.append(
                try RepairText.alter(
                    relation,
                    "DROP CONSTRAINT \(name), ADD CONSTRAINT \(name) \(definition)\(isLate ? " NOT VALID" : "")"))
            statements += try RepairText.comment(on: key.name, key.oid, of: relation, in: examination)
            if isLate, key.isValidated { checks.append(try RepairText.alter(relation, "VALIDATE CONSTRAINT \(name)")) }
        }
        return statements + (try between()) + checks
    }
}
