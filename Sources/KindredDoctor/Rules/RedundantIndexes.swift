import Foundation
import KindredSchema

/// K102 to K104: indexes that cost and give nothing.
enum RedundantIndexes {
    /// What two indexes have to have in common to find the same.
    private struct Shape: Hashable {
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

    static func checkDuplicates(_ visit: inout RuleVisit) {
        let examination = visit.examination
        let referenced = Set(examination.facts.foreignKeys.map(\.targetIndex))
        for relation in examination.sortedRelations {
            let indexes = examination.indexes(of: relation.oid).filter { $0.isUsable && !$0.isExclusion }
            guard indexes.count > 1 else { continue }
            for group in Dictionary(grouping: indexes, by: Shape.init).values where group.count > 1 {
                let sorted = group.sorted { isMoreNeeded($0, $1, referenced) }
                guard let kept = sorted.first else { continue }
                for index in sorted.dropFirst() where mayGo(index, beside: kept, referenced) {
                    report(index, kept, relation, &visit)
                }
            }
        }
    }

    private static func report(
        _ index: DoctorCatalog.Index, _ kept: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation,
        _ visit: inout RuleVisit
    ) {
        visit.report(
            relation, object: index.name, subjects: [.relation(index.oid), .constraint(index.constraint)],
            "The index \(index.name) of \(relation.qualifiedName) repeats \(kept.name)",
            facts: facts(of: index), weight: Double(index.pages),
            repair: { [try drop(index, of: relation)] })
    }

    /// The order in which equal indexes are kept.
    private static func isMoreNeeded(
        _ left: DoctorCatalog.Index, _ right: DoctorCatalog.Index, _ referenced: Set<UInt32>
    ) -> Bool {
        func needs(_ index: DoctorCatalog.Index) -> [Bool] {
            [
                index.isPrimary, referenced.contains(index.oid), index.parent != 0, index.isReplicaIdentity,
                index.isUnique && !index.isDeferrable, index.constraint != 0, index.isUnique,
            ]
        }
        for (a, b) in zip(needs(left), needs(right)) where a != b { return a }
        if left.scans != right.scans { return left.scans > right.scans }
        return left.name.precedesInBytes(right.name)
    }

    /// Whether an index is not needed for anything that the other does not do.
    private static func mayGo(
        _ index: DoctorCatalog.Index, beside kept: DoctorCatalog.Index, _ referenced: Set<UInt32>
    ) -> Bool {
        if index.isPrimary || index.isReplicaIdentity || index.parent != 0 || referenced.contains(index.oid) {
            return false
        }
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

    static func checkPrefixes(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for relation in examination.sortedRelations {
            let indexes = examination.indexes(of: relation.oid).filter { $0.isUsable && $0.method == "btree" }
            guard indexes.count > 1 else { continue }
            for index in indexes where mayBeShorter(index) {
                // What is there twice is K102's.
                let shape = Shape(index)
                if indexes.contains(where: { $0.oid != index.oid && Shape($0) == shape }) { continue }
                let longer = indexes.filter { isPrefix(index, of: $0) }
                guard let kept = longer.min(by: { ($0.keyCount, $0.name) < ($1.keyCount, $1.name) }) else { continue }
                visit.report(
                    relation, object: index.name, subjects: [.relation(index.oid)],
                    "The columns of the index \(index.name) of \(relation.qualifiedName) are the first ones of \(kept.name)",
                    facts: facts(of: index), weight: Double(index.pages),
                    repair: { [try drop(index, of: relation)] })
            }
        }
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

    static func checkUnused(_ visit: inout RuleVisit) {
        let examination = visit.examination
        let settings = examination.facts.settings
        if !settings.countsAccess { return visit.skip("The server counts no accesses: track_counts is off") }
        if settings.isStandby { return visit.skip("A standby counts its own accesses only; ask the primary") }
        guard let age = settings.statisticsAge, age >= youngest else {
            return visit.skip("Statistics began less than seven days ago, so that an index without uses says nothing")
        }
        for relation in examination.sortedRelations where relation.holdsRows {
            for index in examination.indexes(of: relation.oid)
            where index.scans == 0 && index.isUsable && !index.isUnique && index.constraint == 0 && index.parent == 0
                && !index.isReplicaIdentity && !isNeededByKey(index, of: relation, examination)
            {
                visit.report(
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
        return tables.flatMap { examination.foreignKeys(of: $0) }.contains { key in
            let coverage = ForeignKeyCoverage(key, in: examination)
            return coverage.fault(of: index, on: relation.oid) == nil
                && !examination.indexes(of: relation.oid).contains { other in
                    // Of several unused ones the first by name stays.
                    let stays = other.scans > 0 || other.isUnique || other.name.precedesInBytes(index.name)
                    return other.oid != index.oid && stays && coverage.fault(of: other, on: relation.oid) == nil
                }
        }
    }
}

/// K105: indexes that are not complete.
enum InvalidIndexes {
    static func check(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for relation in examination.sortedRelations {
            for index in examination.indexes(of: relation.oid) where !index.isValid || !index.isReady {
                let missing = index.isPartitioned ? missing(of: index, relation, examination) : []
                var names = visit.names
                visit.report(
                    relation, object: index.name, subjects: [.relation(index.oid)],
                    "The index \(index.name) of \(relation.qualifiedName) is not complete, so that no query uses it",
                    facts: missing.isEmpty
                        ? [("state", index.isReady ? "not valid" : "not ready")]
                        : [("partitions without it", missing.map(\.name).joined(separator: ", "))],
                    repair: { try repair(index, relation, missing, examination, &names) })
                visit.names = names
            }
        }
    }

    /// The partitions that lack their part of a partitioned index.
    private static func missing(
        of index: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> [DoctorCatalog.Relation] {
        (examination.partitions[relation.oid] ?? []).compactMap { examination.relations[$0] }
            .filter { part in
                (part.holdsRows || part.isPartitioned)
                    && !examination.indexes(of: part.oid).contains { $0.parent == index.oid }
            }
    }

    private static func repair(
        _ index: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation, _ missing: [DoctorCatalog.Relation],
        _ examination: Examination, _ names: inout RepairNames
    ) throws -> [String] {
        let name = try RepairText.name(schema: relation.schema, index.name)
        guard index.isPartitioned else {
            let isLeftover = ["_ccnew", "_ccold"].contains { mark in
                index.name.range(of: mark, options: .backwards).map { found in
                    index.name[found.upperBound...].utf8.allSatisfy { (0x30...0x39).contains($0) }
                } ?? false
            }
            return ["\(isLeftover ? "DROP INDEX" : "REINDEX INDEX") CONCURRENTLY \(name)"]
        }
        // What cannot be told from the columns alone is the owner's to write.
        guard index.expressions == nil, index.predicate == nil, index.method == "btree", !index.isUnique,
            index.includedColumns.isEmpty, index.options.allSatisfy({ $0 == 0 })
        else { return [] }
        let columns = examination.names(index.keyColumns, of: relation.oid)
        return try missing.flatMap { part in
            let made = names.index(of: [part.name] + columns + ["idx"], on: part, in: examination)
            return [
                try RepairText.createIndex(made, on: part, columns),
                "ALTER INDEX \(name) ATTACH PARTITION \(try RepairText.name(schema: part.schema, made))",
            ]
        }
    }
}
