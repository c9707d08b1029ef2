import KindredPostgres
import KindredSchema

/// K201: foreign keys that repeat another key, the keys that are kept, and the comments of both.
struct DuplicateForeignKeys {
    private let examination: Examination
    /// The key that is kept, by the OID of each that the repair drops.
    private var kept: [UInt32: DoctorCatalog.ForeignKey] = [:]
    /// The comments of kept keys that take over annotations of dropped keys.
    private var comments: [UInt32: String] = [:]

    init(_ examination: Examination) {
        self.examination = examination
        for relation in examination.sortedRelations {
            for (key, kept) in Self.pairs(of: relation, examination) where mayGo(key, relation, beside: kept) {
                self.kept[key.oid] = kept
            }
        }
    }

    static func check(_ run: inout RuleRun) {
        let examination = run.examination
        let duplicates = DuplicateForeignKeys(examination)
        for relation in examination.sortedRelations {
            for (key, kept) in pairs(of: relation, examination) {
                run.report(
                    relation, object: key.name, subjects: [.constraint(key.oid)],
                    "The foreign key \(key.name) of \(relation.qualifiedName) repeats \(kept.name)",
                    facts: ForeignKeyRules.facts(key, examination) + [
                        ("action on deletion", ForeignKeyText.action(key.deleteAction)),
                        ("action of \(kept.name)", ForeignKeyText.action(kept.deleteAction)),
                    ],
                    repair: { try duplicates.repair(key, of: relation) })
            }
        }
    }

    /// The key that is there after the repair.
    func remaining(for key: DoctorCatalog.ForeignKey) -> DoctorCatalog.ForeignKey { kept[key.oid] ?? key }

    func isDropped(_ key: DoctorCatalog.ForeignKey) -> Bool { kept[key.oid] != nil }

    /// The comment on a key after the repair.
    func comment(on key: DoctorCatalog.ForeignKey) -> String? {
        comments[key.oid] ?? examination.facts.comments[.constraint(key.oid)]
    }

    private func repair(_ key: DoctorCatalog.ForeignKey, of relation: DoctorCatalog.Relation) throws -> [String] {
        guard let kept = kept[key.oid] else { return [] }
        let drop = try RepairText.alter(relation, "DROP CONSTRAINT \(try RepairText.name(key.name))")
        guard let comment = comments[kept.oid] else { return [drop] }
        return [try RepairText.comment(on: kept.name, of: relation, comment), drop]
    }

    /// Whether a key can be dropped without a loss of annotations; notes the annotations that the kept key takes over.
    private mutating func mayGo(
        _ key: DoctorCatalog.ForeignKey, _ relation: DoctorCatalog.Relation, beside kept: DoctorCatalog.ForeignKey
    ) -> Bool {
        if examination.ignores("K201", on: .constraint(key.oid))
            || examination.ignores("K201", on: .relation(relation.oid))
        {
            return false
        }
        // The table's annotation may choose its pair of keys by this name.
        let annotation = examination.facts.comments[.relation(relation.oid)].flatMap(DoctorAnnotation.init)
        if (annotation?.members["manyToMany"] as? [String])?.contains(key.name) == true { return false }
        var own = examination.facts.comments[.constraint(key.oid)].flatMap(DoctorAnnotation.init)?.members ?? [:]
        let known = comment(on: kept)
        let written = known.flatMap(DoctorAnnotation.init)?.members ?? [:]
        for (member, name) in lostNames(of: key, relation, beside: kept)
        where own[member] == nil && written[member] == nil {
            own[member] = name
        }
        let additions = own.filter { entry in written[entry.key].map { "\($0)" != "\(entry.value)" } ?? true }
        if additions.isEmpty { return true }
        guard let text = DoctorAnnotation.adding(additions, to: known) else { return false }
        comments[kept.oid] = text
        return true
    }

    /// The names that a relationship has from a key's constraint and would not have from the kept key's constraint.
    private func lostNames(
        of key: DoctorCatalog.ForeignKey, _ relation: DoctorCatalog.Relation, beside kept: DoctorCatalog.ForeignKey
    ) -> [String: String] {
        let columns = Set(texts: examination.names(key.columns, of: key.relation))
        let others = Set(texts: examination.names(key.targetColumns, of: key.target))
        guard let target = examination.relations[key.target]?.qualifiedName,
            let relationship = examination.schema[relation.qualifiedName]?.relationships.first(where: {
                $0.holdsForeignKey && !$0.isByView && $0.destination == target && Set(texts: $0.columns) == columns
                    && Set(texts: $0.destinationColumns) == others
            })
        else { return [:] }
        let (given, left) = (Self.names(from: key.name), Self.names(from: kept.name))
        var lost: [String: String] = [:]
        if given.holder == relationship.name, left.holder != given.holder { lost["name"] = relationship.name }
        if given.target == relationship.inverse, left.target != given.target { lost["inverse"] = relationship.inverse }
        return lost
    }

    /// The names that a constraint gives the two ends of its relationship: `a__b` to both.
    private static func names(from constraint: String) -> (holder: String, target: String?) {
        guard let mark = constraint.firstRange(of: "__") else { return (constraint, nil) }
        return (String(constraint[..<mark.lowerBound]), String(constraint[mark.upperBound...]))
    }

    /// The keys of a table that repeat another key, each with that key.
    private static func pairs(
        of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> [(key: DoctorCatalog.ForeignKey, kept: DoctorCatalog.ForeignKey)] {
        struct Pairs: Hashable {
            var target: UInt32
            var pairs: Set<[Int16]>
        }
        let keys = examination.foreignKeys(of: relation.oid).filter { !$0.hasPeriod }
        guard keys.count > 1 else { return [] }
        let groups = Dictionary(grouping: keys) { key in
            Pairs(target: key.target, pairs: Set(zip(key.columns, key.targetColumns).map { [$0, $1] }))
        }
        return groups.values.filter { $0.count > 1 }.flatMap { group in
            let sorted = group.sorted { prevails($0, $1, examination) }
            return sorted.dropFirst().map { ($0, sorted[0]) }
        }
    }

    /// Whether the first of two equal keys decides the action: RESTRICT before CASCADE, before SET NULL, before NO
    /// ACTION.
    private static func prevails(
        _ left: DoctorCatalog.ForeignKey, _ right: DoctorCatalog.ForeignKey, _ examination: Examination
    ) -> Bool {
        if left.isEnforced != right.isEnforced { return left.isEnforced }
        let order: [Character] = ["r", "c", "n", "d", "a"]
        func rank(_ key: DoctorCatalog.ForeignKey) -> Int {
            order.firstIndex(of: Character(Unicode.Scalar(key.deleteAction))) ?? order.count
        }
        if rank(left) != rank(right) { return rank(left) < rank(right) }
        if left.isValidated != right.isValidated { return left.isValidated }
        let isAnnotated = [left, right].map {
            examination.facts.comments[.constraint($0.oid)]?.hasPrefix("@kindred") == true
        }
        if isAnnotated[0] != isAnnotated[1] { return isAnnotated[0] }
        return left.name < right.name
    }
}
