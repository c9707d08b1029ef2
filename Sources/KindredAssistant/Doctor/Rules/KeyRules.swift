import KindredSchema

extension DoctorRule {
    /// K30x: keys.
    static let keyRules: [DoctorRule] = [
        DoctorRule(
            "K301", "no-key", .warning,
            "A table without a key.",
            explanation: """
                Without a primary key, or a UNIQUE constraint over columns that are NOT NULL, objects cannot be told apart: \
                they are read-only and are not uniqued. The repair makes a unique index the key where there is one, else it \
                adds a numbered column, which rewrites the table. Helper tables without a key are K209's.
                """,
            check: KeyChecks.checkTables),
        DoctorRule(
            "K302", "nullable-unique", .note,
            "A unique key of several columns of which some may be NULL.",
            explanation: """
                Two rows with NULL in such a column are not the same to PostgreSQL, so that everything else in them may be \
                there twice, and the key identifies no object. From PostgreSQL 15 on, NULLS NOT DISTINCT says otherwise; the \
                repair fails if rows are there twice already.
                """,
            check: KeyChecks.checkNullable),
        DoctorRule(
            "K303", "integer-key-nearly-used", .warning,
            "A sequence that has given out more than 70 % of its column's numbers.",
            explanation: """
                When they are used up, every INSERT fails. Above 90 % this is an error. The repair makes the column and those \
                that refer to it bigint, which rewrites their tables under a lock; on large tables do it with a new column and \
                a trigger.
                """,
            check: KeyChecks.checkSequences),
        DoctorRule(
            "K304", "view-without-key", .note,
            "A view whose key is not known.",
            explanation: """
                A view that shows one table's rows keeps that table's key. Every other one needs an annotation, `COMMENT ON VIEW \
                v IS '@kindred {"key": ["id"]}'`, for its objects to be uniqued and found.
                """,
            check: KeyChecks.checkViews),
    ]

    /// K31x: names.
    static let nameRules: [DoctorRule] = [
        DoctorRule(
            "K311", "names-differ-by-case", .note,
            "Names that differ by the case of their letters alone.",
            explanation: """
                PostgreSQL tells them apart only in quotes, people and other tools do not, and one of two generated classes or \
                properties gets a number.
                """,
            check: KeyChecks.checkCase),
        DoctorRule(
            "K312", "cut-name", .note,
            "A name of 63 bytes, which may be cut off.",
            explanation: """
                PostgreSQL cuts names that are longer, in silence; two that begin alike then clash. A constraint's name is also \
                what generated relationship names are made of.
                """,
            check: KeyChecks.checkLength),
    ]
}

/// The checks of K3.
enum KeyChecks {
    static func checkTables(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for diagnostic in examination.schema.diagnostics where diagnostic.code == .missingKey {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid],
                !relation.isView, !ForeignKeyRules.isHelperWithoutKey(relation, examination)
            else { continue }
            let names = examination.columns(of: oid).map(\.name)
            visit.report(
                relation, "The table \(relation.qualifiedName) has no key, so that its objects can only be read",
                facts: [("columns", names.joined(separator: ", "))],
                repair: {
                    guard relation.holdsRows else { return [] }
                    let unique = examination.indexes(of: oid).first { index in
                        index.isUnique && index.isUsable && index.constraint == 0 && index.predicate == nil
                            && index.expressions == nil && index.options.allSatisfy { $0 == 0 }
                            && index.includedColumns.isEmpty
                            && index.keyColumns.allSatisfy { examination.column($0, of: oid)?.isNotNull ?? false }
                    }
                    if let unique {
                        return [
                            try RepairText.alter(
                                relation, "ADD PRIMARY KEY USING INDEX \(try RepairText.name(unique.name))")
                        ]
                    }
                    if names.contains("id") { return [] }
                    return [
                        try RepairText.alter(
                            relation, "ADD COLUMN \"id\" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
                    ]
                })
        }
    }

    static func checkViews(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for diagnostic in examination.schema.diagnostics where diagnostic.code == .missingKey {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid],
                relation.isView
            else { continue }
            let names = examination.columns(of: oid).map(\.name)
            visit.report(
                relation,
                "The view \(relation.qualifiedName) has no key that is known, so that its objects are not uniqued",
                facts: [("columns", names.joined(separator: ", "))])
        }
    }

    static func checkNullable(_ visit: inout RuleVisit) {
        let examination = visit.examination
        let referenced = Set(examination.facts.foreignKeys.map(\.targetIndex))
        for relation in examination.sortedRelations where relation.holdsRows || relation.isPartitioned {
            for index in examination.indexes(of: relation.oid)
            where index.isUnique && index.hasDistinctNulls && index.isUsable && index.keyCount > 1 && index.parent == 0
                && index.expressions == nil && index.predicate == nil && !index.isExclusion
            {
                let columns = index.keyColumns.compactMap { examination.column($0, of: relation.oid) }
                let nullable = columns.filter { !$0.isNotNull }
                guard !nullable.isEmpty else { continue }
                visit.report(
                    relation, object: index.name, subjects: [.relation(index.oid), .constraint(index.constraint)],
                    "The unique key \(index.name) of \(relation.qualifiedName) lets rows be there twice, as "
                        + "\(nullable.map(\.name).joined(separator: ", ")) may be NULL",
                    facts: [("columns", columns.map(\.name).joined(separator: ", "))],
                    repair: {
                        guard examination.facts.settings.serverVersion >= 150_000, !referenced.contains(index.oid),
                            let name = index.constraintName, index.includedColumns.isEmpty
                        else { return [] }
                        let key = try RepairText.name(name)
                        let list = try RepairText.list(columns.map(\.name))
                        let deferrable = index.isDeferrable ? " DEFERRABLE" : ""
                        return [
                            try RepairText.alter(
                                relation,
                                "DROP CONSTRAINT \(key), ADD CONSTRAINT \(key) UNIQUE NULLS NOT DISTINCT (\(list))\(deferrable)"
                            )
                        ]
                    })
            }
        }
    }

    // MARK: Sequences

    static func checkSequences(_ visit: inout RuleVisit) {
        let examination = visit.examination
        var unreadable: Set<UInt32> = []
        var seen: Set<CatalogObject> = []
        for sequence in examination.facts.sequences.sorted(by: { $0.oid < $1.oid }) {
            guard let relation = examination.relations[sequence.relation],
                let column = examination.column(sequence.column, of: sequence.relation),
                seen.insert(.column(sequence.relation, sequence.column)).inserted
            else { continue }
            guard sequence.isReadable else {
                unreadable.insert(sequence.oid)
                continue
            }
            guard let last = sequence.lastValue, last > 0, sequence.increment > 0 else { continue }
            let largest: Int64
            switch examination.baseType(column.type) {
            case 21: largest = Int64(Int16.max)
            case 23: largest = Int64(Int32.max)
            default: largest = .max
            }
            let end = min(largest, sequence.maximum)
            guard end > 0, case let used = min(Double(last) / Double(end), 1), used > 0.7 else { continue }
            visit.report(
                relation, object: column.name,
                subjects: [.column(relation.oid, column.number), .relation(sequence.oid)],
                level: used > 0.9 ? .error : .warning,
                "The numbers of \(column.name) of \(relation.qualifiedName) are used up to \(Int(used * 100)) %",
                facts: [("last number", "\(last)"), ("largest", "\(end)"), ("sequence", sequence.name)], weight: used,
                repair: {
                    guard end < Int64.max else { return [] }
                    return try widening(relation, column, sequence, largest, examination)
                })
        }
        if !unreadable.isEmpty {
            visit.skip(
                "The role \(examination.role) may not read \(unreadable.count) sequences: grant it SELECT on them")
        }
    }

    /// Makes a column and those that refer to it bigint.
    private static func widening(
        _ relation: DoctorCatalog.Relation, _ column: DoctorCatalog.Column, _ sequence: DoctorCatalog.Sequence,
        _ largest: Int64, _ examination: Examination
    ) throws -> [String] {
        var statements: [String] = []
        if largest < Int64.max, column.type == 21 || column.type == 23 {
            if relation.isPartition { return [] }
            statements.append(
                try RepairText.alter(relation, "ALTER COLUMN \(try RepairText.name(column.name)) TYPE bigint"))
            for key in examination.foreignKeys where key.target == relation.oid {
                guard let place = key.targetColumns.firstIndex(of: column.number), key.columns.indices.contains(place),
                    let other = examination.relations[key.relation], !other.isPartition,
                    let referring = examination.column(key.columns[place], of: key.relation),
                    referring.type == 21 || referring.type == 23,
                    !(key.relation == relation.oid && referring.number == column.number)
                else { continue }
                statements.append(
                    try RepairText.alter(other, "ALTER COLUMN \(try RepairText.name(referring.name)) TYPE bigint"))
            }
        }
        // An identity column's own sequence has followed by then, to no harm.
        let name = try RepairText.name(schema: sequence.schema, sequence.name)
        statements.append("ALTER SEQUENCE \(name) AS bigint")
        if sequence.maximum != Int64(Int16.max), sequence.maximum != Int64(Int32.max) {
            statements[statements.count - 1] += " NO MAXVALUE"
        }
        return statements
    }

    // MARK: Names

    static func checkCase(_ visit: inout RuleVisit) {
        let examination = visit.examination
        let schemas = Dictionary(grouping: examination.sortedRelations, by: \.schema)
        for relations in schemas.values {
            for group in Dictionary(grouping: relations, by: { $0.name.lowercased() }).values where group.count > 1 {
                guard let first = group.first else { continue }
                let others = group.dropFirst().map(\.name).joined(separator: ", ")
                visit.report(
                    first, subjects: group.map { .relation($0.oid) },
                    "The name of \(first.qualifiedName) differs from \(others) by the case of its letters alone",
                    facts: [("names", group.map(\.name).joined(separator: ", "))])
            }
        }
        for relation in examination.sortedRelations where !relation.isPartition {
            let columns = Dictionary(grouping: examination.columns(of: relation.oid)) { $0.name.lowercased() }
            for group in columns.values where group.count > 1 {
                guard let first = group.first else { continue }
                visit.report(
                    relation, object: first.name, subjects: group.map { .column(relation.oid, $0.number) },
                    "The columns \(group.map(\.name).joined(separator: ", ")) of \(relation.qualifiedName) differ by the case "
                        + "of their letters alone",
                    facts: [("names", group.map(\.name).joined(separator: ", "))])
            }
        }
    }

    static func checkLength(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for relation in examination.sortedRelations where !relation.isPartition {
            if isCut(relation.name) {
                visit.report(
                    relation, "The name of \(relation.qualifiedName) may be cut off", facts: length(relation.name))
            }
            for column in examination.columns(of: relation.oid) where isCut(column.name) {
                visit.report(
                    relation, object: column.name, subjects: [.column(relation.oid, column.number)],
                    "The name of the column \(column.name) of \(relation.qualifiedName) may be cut off",
                    facts: length(column.name))
            }
            for key in examination.foreignKeys(of: relation.oid) where isCut(key.name) {
                visit.report(
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
