import KindredPostgres
import KindredSchema

/// K101: foreign keys whose rows no index finds.
struct UnindexedForeignKeys {
    let examination: Examination
    /// The questions of the model by each key, by the table that holds it and the key's name.
    private let uses: [Use: [String]]

    private struct Use: Hashable {
        var table: QualifiedName
        var key: String
    }

    init(_ examination: Examination) {
        self.examination = examination
        var uses: [Use: [String]] = [:]
        for entity in examination.schema.entities {
            for relationship in entity.relationships where !relationship.isByView && !relationship.holdsForeignKey {
                let use: Use
                if let helper = relationship.helper {
                    use = Use(table: helper.entity, key: helper.sourceForeignKey)
                } else if let key = relationship.foreignKey {
                    use = Use(table: relationship.destination, key: key)
                } else {
                    continue
                }
                uses[use, default: []].append("\(entity.name.name).\(relationship.name)")
                if relationship.deleteRule != .noAction {
                    uses[use, default: []].append(
                        "deletion of \(entity.name.name) (\(relationship.deleteRule.rawValue))")
                }
            }
        }
        self.uses = uses
    }

    /// Reports every key without an index, with the reason and the statements that make an index.
    static func check(_ run: inout RuleRun) {
        let keys = UnindexedForeignKeys(run.examination)
        var found: [Finding] = []
        for key in run.examination.foreignKeys {
            let coverage = ForeignKeyCoverage(key, in: run.examination)
            let uncovered = coverage.uncovered()
            guard !uncovered.isEmpty, let relation = run.examination.relations[key.relation] else { continue }
            found.append(Finding(coverage: coverage, relation: relation, uncovered: uncovered))
        }
        let proposals = Proposals(found, &run)
        for finding in found { keys.report(finding, proposals, &run) }
    }

    fileprivate struct Finding {
        let coverage: ForeignKeyCoverage
        let relation: DoctorCatalog.Relation
        let uncovered: [DoctorCatalog.Relation]

        var key: DoctorCatalog.ForeignKey { coverage.key }

        /// The tables that need an index: a partitioned table itself where none of its partitions has one.
        func places(in examination: Examination) -> [DoctorCatalog.Relation] {
            let leaves = examination.leaves(of: relation.oid).filter(\.holdsRows)
            return relation.isPartitioned && uncovered.count >= leaves.count ? [relation] : uncovered
        }
    }

    private func report(_ finding: Finding, _ proposals: Proposals, _ run: inout RuleRun) {
        let (key, relation) = (finding.key, finding.relation)
        // A table of an extension or of the system is not among the relations.
        let target = examination.relations[key.target]
        let targetName = target?.qualifiedName.description ?? "the referenced table"
        let rows = finding.uncovered.reduce(0) { $0.addingReportingOverflow($1.rows).partialValue }
        let columns = finding.coverage.columns.joined(separator: ", ")
        let uses = uses[Use(table: relation.qualifiedName, key: key.name)] ?? []
        let changes = target.map { $0.deletes.addingReportingOverflow($0.updates).partialValue } ?? 0
        var facts: [(String, String)] = [("columns", columns), ("rows", "about \(rows)")]
        facts.append(("deletes and updates of \(targetName)", "\(changes)"))
        if !uses.isEmpty { facts.append(("asked by", uses.joined(separator: ", "))) }
        if relation.isPartitioned {
            let names = finding.uncovered.map { $0.qualifiedName.description }
            let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
            facts.append(("partitions without an index", "\(names.count): \(shown)"))
        }
        for table in finding.uncovered.prefix(5) {
            for miss in finding.coverage.nearMisses(on: table.oid).prefix(5) {
                facts.append(("index \(miss.index)", miss.fault.description))
            }
        }
        let holder =
            finding.uncovered.count == 1 && !relation.isPartitioned
            ? "\(relation.qualifiedName) has" : partitions(finding, relation)
        run.report(
            relation, object: key.name, subjects: [.constraint(key.oid)],
            "\(holder) no usable index on \(columns) for the foreign key \(key.name), so that deleting a row of "
                + "\(targetName), or reading the rows that refer to it, reads all of about \(rows) rows",
            facts: facts, weight: Double(rows) * (1 + Double(uses.count) + Double(max(changes, 0)).squareRoot()),
            repair: { try proposals.statements(for: finding) })
    }

    private func partitions(_ finding: Finding, _ relation: DoctorCatalog.Relation) -> String {
        let count = finding.places(in: examination).first?.oid == relation.oid ? 0 : finding.uncovered.count
        switch count {
        case 0: return "\(relation.qualifiedName) has"
        case 1: return "A partition of \(relation.qualifiedName) has"
        default: return "\(count) partitions of \(relation.qualifiedName) have"
        }
    }

    /// The indexes to make: one for keys whose columns are at another's beginning, too.
    private struct Proposals {
        /// Columns of the indexes to make, by table.
        private var columns: [UInt32: [[String]]] = [:]
        private var names: [UInt32: [String]] = [:]
        private let examination: Examination

        init(_ findings: [Finding], _ run: inout RuleRun) {
            examination = run.examination
            var wanted: [UInt32: [[String]]] = [:]
            var order: [DoctorCatalog.Relation] = []
            for finding in findings {
                for place in finding.places(in: examination) {
                    if wanted[place.oid] == nil { order.append(place) }
                    wanted[place.oid, default: []].append(finding.coverage.columns)
                }
            }
            for place in order {
                var lists: [[String]] = []
                // The shortest first: a longer key that has all its columns begins with them, and takes its place.
                for columns in (wanted[place.oid] ?? []).sorted(by: { $0.count < $1.count }) {
                    if lists.contains(where: { Set(texts: $0) == Set(texts: columns) }) { continue }
                    if let shorter = lists.firstIndex(where: { $0.allSatisfy(columns.contains) }) {
                        lists[shorter] += columns.filter { !lists[shorter].contains($0) }
                    } else {
                        lists.append(columns)
                    }
                }
                columns[place.oid] = lists
                names[place.oid] = lists.map { run.newName(on: place, $0 + ["idx"]) }
            }
        }

        func statements(for finding: Finding) throws -> [String] {
            let wanted = Set(texts: finding.coverage.columns)
            return try finding.places(in: examination).compactMap { place in
                guard let lists = columns[place.oid], let names = names[place.oid],
                    let index = lists.firstIndex(where: { Set(texts: $0.prefix(wanted.count)) == wanted })
                else { return nil }
                return try RepairText.createIndex(names[index], on: place, lists[index])
            }
        }
    }
}
