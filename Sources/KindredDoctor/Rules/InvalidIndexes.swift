import Foundation
import KindredPostgres
import KindredSchema

/// K105: indexes that are not complete.
enum InvalidIndexes {
    static func check(_ run: inout RuleRun) {
        let examination = run.examination
        for relation in examination.sortedRelations {
            for index in examination.indexes(of: relation.oid) where !index.isValid || !index.isReady {
                let missing = index.isPartitioned ? missing(of: index, relation, examination) : []
                let columns = examination.names(index.keyColumns, of: relation.oid)
                let names = missing.map { run.newName(on: $0, columns + ["idx"]) }
                let twin = twin(of: index, relation, examination)
                var facts = [("state", index.isReady ? "not valid" : "not ready")]
                if !missing.isEmpty {
                    facts = [("partitions without it", missing.map(\.name).joined(separator: ", "))]
                }
                if let twin { facts.append(("the same as", twin.name)) }
                run.report(
                    relation, object: index.name, subjects: [.relation(index.oid)],
                    "The index \(index.name) of \(relation.qualifiedName) is not complete, so that no query uses it",
                    facts: facts,
                    repair: {
                        guard index.isPartitioned else {
                            return [try repair(index, relation, isLeftover: twin != nil || isLeftover(index))]
                        }
                        return try repair(index, relation, columns, Array(zip(missing, names)))
                    })
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

    /// The index with the purpose of an incomplete index: another attempt at building it, or the index that it was to
    /// replace.
    private static func twin(
        of index: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation, _ examination: Examination
    ) -> DoctorCatalog.Index? {
        guard !index.isPartitioned, index.constraint == 0, index.parent == 0 else { return nil }
        let shape = RedundantIndexes.Shape(index)
        return examination.indexes(of: relation.oid).first { other in
            guard other.oid != index.oid, RedundantIndexes.Shape(other) == shape, other.isUnique || !index.isUnique,
                !other.hasDistinctNulls || index.hasDistinctNulls
            else { return false }
            // The first of several incomplete indexes is built anew.
            if other.isUsable { return true }
            if other.isUnique != index.isUnique { return other.isUnique }
            if isLeftover(other) != isLeftover(index) { return !isLeftover(other) }
            return other.name < index.name
        }
    }

    /// Whether an index has a name that REINDEX CONCURRENTLY gives for the time of its work.
    private static func isLeftover(_ index: DoctorCatalog.Index) -> Bool {
        ["_ccnew", "_ccold"].contains { mark in
            index.name.range(of: mark, options: .backwards).map { found in
                index.name[found.upperBound...].utf8.allSatisfy { (0x30...0x39).contains($0) }
            } ?? false
        }
    }

    private static func repair(
        _ index: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation, isLeftover: Bool
    ) throws -> String {
        let name = try RepairText.name(schema: relation.schema, index.name)
        // A constraint's index cannot be dropped; an exclusion constraint's index cannot be built concurrently with
        // writers.
        if index.isExclusion { return "REINDEX INDEX \(name)" }
        return "\(isLeftover && index.constraint == 0 ? "DROP INDEX" : "REINDEX INDEX") CONCURRENTLY \(name)"
    }

    /// Makes the parts of a partitioned index that partitions lack.
    private static func repair(
        _ index: DoctorCatalog.Index, _ relation: DoctorCatalog.Relation, _ columns: [String],
        _ missing: [(DoctorCatalog.Relation, name: String)]
    ) throws -> [String] {
        // An index that its columns alone do not describe is left for the owner to write.
        guard index.expressions == nil, index.predicate == nil, index.method == "btree", !index.isUnique,
            index.includedColumns.isEmpty, index.options.allSatisfy({ $0 == 0 })
        else { return [] }
        let name = try RepairText.name(schema: relation.schema, index.name)
        return try missing.flatMap { part, made in
            [
                try RepairText.createIndex(made, on: part, columns),
                "ALTER INDEX \(name) ATTACH PARTITION \(try RepairText.name(schema: part.schema, made))",
            ]
        }
    }
}
