import Foundation
import KindredPostgres
import KindredSchema

/// K102 to K104: indexes that cost and give nothing.
enum RedundantIndexes {
    /// The traits that two indexes have in common where they find the same.
    struct Shape: Hashable {
        var method: String
        var columns: [Int16]
        var included: Set<Int16>
        var classes: [UInt32]
        var collations: [UInt32]
        var options: [Int16]
        var expressions: String?
        var predicate: String?

        init(_ index: DoctorCatalog.Index) {
            method = index.method
            columns = Array(index.keyColumns)
            included = Set(index.includedColumns)
            classes = index.classes
            collations = index.collations
            options = index.options
            expressions = index.expressions
            predicate = index.predicate
        }
    }

    static func checkDuplicates(_ run: inout RuleRun) {
        let examination = run.examination
        let leaning = LeaningKeys(examination)
        for relation in examination.sortedRelations {
            for (index, kept) in duplicates(of: relation, leaning, examination) {
                let keys = leaning.keys(on: index)
                let names = keys.map(\.name).joined(separator: ", ")
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid), .constraint(index.constraint)],
                    "The index \(index.name) of \(relation.qualifiedName) repeats \(kept.name)",
                    facts: facts(of: index) + (keys.isEmpty ? [] : [("foreign keys that lean on it", names)]),
                    weight: Double(index.pages),
                    repair: {
                        try leaning.moving(keys, to: kept, of: relation, { [try drop(index, of: relation)] })
                    })
            }
        }
    }

    /// The indexes of a table that repeat another index, each with the index that is kept.
    private static func duplicates(
        of relation: DoctorCatalog.Relation, _ leaning: LeaningKeys, _ examination: Examination
    ) -> [(index: DoctorCatalog.Index, kept: DoctorCatalog.Index)] {
        let indexes = examination.indexes(of: relation.oid).filter { $0.isUsable && !$0.isExclusion }
        guard indexes.count > 1 else { return [] }
        return Dictionary(grouping: indexes, by: Shape.init).values.filter { $0.count > 1 }.flatMap { group in
            let sorted = group.sorted { isMoreNeeded($0, $1, leaning) }
            return sorted.dropFirst().filter { mayGo($0, beside: sorted[0], leaning) }.map { ($0, sorted[0]) }
        }
    }

    /// The indexes that repairs of K102 drop, by OID: other rules have nothing to repair there.
    static func dropped(in examination: Examination) -> Set<UInt32> {
        let leaning = LeaningKeys(examination)
        return Set(
            examination.sortedRelations.flatMap { relation in
                duplicates(of: relation, leaning, examination).map(\.index).filter { index in
                    let subjects: [CatalogObject] = [
                        .relation(relation.oid), .relation(index.oid), .constraint(index.constraint),
                    ]
                    return !subjects.contains { examination.ignores("K102", on: $0) }
                }.map(\.oid)
            })
    }

    /// The order in which equal indexes are kept.
    private static func isMoreNeeded(
        _ left: DoctorCatalog.Index, _ right: DoctorCatalog.Index, _ leaning: LeaningKeys
    ) -> Bool {
        func needs(_ index: DoctorCatalog.Index) -> [Bool] {
            [
                index.isPrimary, leaning.areOn(index), index.parent != 0, index.isReplicaIdentity,
                index.isUnique && !index.isDeferrable, index.constraint != 0, index.isUnique,
            ]
        }
        for (a, b) in zip(needs(left), needs(right)) where a != b { return a }
        if left.scans != right.scans { return left.scans > right.scans }
        return left.name < right.name
    }

    /// Whether an index is not needed for anything that the other does not do.
    private static func mayGo(
        _ index: DoctorCatalog.Index, beside kept: DoctorCatalog.Index, _ leaning: LeaningKeys
    ) -> Bool {
        if index.isPrimary || index.isReplicaIdentity || index.parent != 0 { return false }
        if leaning.areOn(index), !leaning.mayMove(from: index, to: kept) { return false }
        guard index.isUnique else { return true }
        return kept.isUnique && !kept.isDeferrable && !index.isDeferrable
            && (!kept.hasDistinctNulls || index.hasDistinctNulls)
    }

    static func drop(_ index: DoctorCatalog.Index, of relation: DoctorCatalog.Relation) throws -> String {
        if let constraint = index.constraintName {
            return try RepairText.alter(relation, "DROP CONSTRAINT \(try RepairText.name(constraint))")
        }
        let concurrently = index.isPartitioned ? "" : " CONCURRENTLY"
        return "DROP INDEX\(concurrently) \(try RepairText.name(schema: relation.schema, index.name))"
    }

    private static func facts(of index: DoctorCatalog.Index) -> [(String, String)] {
        [("size", "\(index.pages * 8) kB"), ("uses since statistics began", "\(index.scans)")]
    }

    static func checkPrefixes(_ run: inout RuleRun) {
        let examination = run.examination
        for relation in examination.sortedRelations {
            let indexes = examination.indexes(of: relation.oid).filter { $0.isUsable && $0.method == "btree" }
            guard indexes.count > 1 else { continue }
            for index in indexes where mayBeShorter(index) {
                guard let kept = longer(than: index, indexes) else { continue }
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid)],
                    "The columns of the index \(index.name) of \(relation.qualifiedName) are the first ones of \(kept.name)",
                    facts: facts(of: index), weight: Double(index.pages),
                    repair: { [try drop(index, of: relation)] })
            }
        }
    }

    /// The longer index that serves the purpose of a shorter one; nil for none.
    private static func longer(
        than index: DoctorCatalog.Index, _ indexes: [DoctorCatalog.Index]
    ) -> DoctorCatalog.Index? {
        // Duplicate indexes are left to K102.
        let shape = Shape(index)
        if indexes.contains(where: { $0.oid != index.oid && Shape($0) == shape }) { return nil }
        return indexes.filter { isPrefix(index, of: $0) }.min { ($0.keyCount, $0.name) < ($1.keyCount, $1.name) }
    }

    private static func mayBeShorter(_ index: DoctorCatalog.Index) -> Bool {
        !index.isUnique && index.constraint == 0 && index.parent == 0 && !index.isReplicaIdentity
            && index.expressions == nil
    }

    private static func isPrefix(_ index: DoctorCatalog.Index, of other: DoctorCatalog.Index) -> Bool {
        let count = index.keyCount
        guard index.oid != other.oid, other.keyCount >= count, index.predicate == other.predicate,
            index.keyColumns.elementsEqual(other.keyColumns.prefix(count)),
            index.classes.prefix(count).elementsEqual(other.classes.prefix(count)),
            index.collations.prefix(count).elementsEqual(other.collations.prefix(count)),
            index.options.prefix(count).elementsEqual(other.options.prefix(count))
        else { return false }
        // With as many columns it is a duplicate, unless the other holds more.
        let extra = Set(other.columns.dropFirst(count))
        return !extra.isEmpty && Set(index.includedColumns).isSubset(of: extra)
            && (other.keyCount > count || Set(index.includedColumns) != extra)
    }

    /// Statistics younger than this many seconds say nothing.
    private static let youngest: Int64 = 7 * 86_400

    static func checkUnused(_ run: inout RuleRun) {
        let examination = run.examination
        let settings = examination.facts.settings
        if !settings.countsAccess { return run.skip("The server counts no accesses: track_counts is off") }
        if settings.isStandby { return run.skip("A standby counts its own accesses only; ask the primary") }
        guard let age = settings.statisticsAge, age >= youngest else {
            return run.skip("Statistics began less than seven days ago, so that an index without uses says nothing")
        }
        for relation in examination.sortedRelations where relation.holdsRows {
            for index in examination.indexes(of: relation.oid)
            where index.scans == 0 && index.isUsable && !index.isUnique && index.constraint == 0 && index.parent == 0
                && !index.isReplicaIdentity && !isNeededByKey(index, of: relation, examination)
            {
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid)],
                    "The index \(index.name) of \(relation.qualifiedName) was not used in \(age / 86_400) days",
                    facts: facts(of: index), weight: Double(index.pages),
                    repair: { [try drop(index, of: relation)] })
            }
        }
    }

    /// Whether a foreign key would be without an index.
    private static func isNeededByKey(
        _ index: DoctorCatalog.Index, of relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> Bool {
        var tables = [relation.oid]
        while let last = tables.last, let parent = examination.relations[last]?.parent, parent != 0, tables.count < 64 {
            tables.append(parent)
        }
        // Without the shorter indexes that K103 drops.
        let indexes = examination.indexes(of: relation.oid).filter { $0.isUsable && $0.method == "btree" }
        let others = examination.indexes(of: relation.oid).filter { other in
            other.oid != index.oid && !(mayBeShorter(other) && longer(than: other, indexes) != nil)
        }
        return tables.flatMap { examination.foreignKeys(of: $0) }.contains { key in
            let coverage = ForeignKeyCoverage(key, in: examination)
            return coverage.fault(of: index, on: relation.oid) == nil
                && !others.contains { other in
                    // The first by name of several unused indexes stays.
                    let stays = other.scans > 0 || other.isUnique || other.name < index.name
                    return stays && coverage.fault(of: other, on: relation.oid) == nil
                }
        }
    }
}
