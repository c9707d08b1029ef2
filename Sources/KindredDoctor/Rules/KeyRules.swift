import KindredPostgres
import KindredSchema

extension DoctorRule {
    /// K30x: keys.
    static let keyRules: [DoctorRule] = [
        DoctorRule(
            "K301", "no-key", .warning,
            "A table without a key.",
            explanation: """
                Without a primary key, or a unique index over columns that are NOT NULL, objects cannot be told apart: they are \
                read-only and are not uniqued. The repair adds a numbered column, which rewrites the table; not to a table that \
                others inherit from. Helper tables without a key are K209's.
                """,
            check: KeyChecks.checkTables),
        DoctorRule(
            "K302", "nullable-unique", .note,
            "A unique key of several columns of which some may be NULL.",
            explanation: """
                Two rows with NULL in such a column are not the same to PostgreSQL, so that everything else in them may be \
                there twice, and the key identifies no object. Keys are left out where other unique indexes keep such rows \
                apart: partial ones over the rows with NULL, or with COALESCE in the column's place. From PostgreSQL 15 on, NULLS \
                NOT DISTINCT makes NULLs equal. The repair does so where only foreign keys of the unique key may be NULL, beside \
                another value, as of folders without a parent; it fails if rows are there twice already. A number that is not \
                known yet would keep the second row without one out, so that there is no repair.
                """,
            check: NullableKeys.check),
        DoctorRule(
            "K303", "integer-key-nearly-used", .warning,
            "A sequence that has given out more than 70 % of its column's numbers.",
            explanation: """
                When they are used up, every INSERT fails. Above 90 % this is an error. The repair makes the column and those \
                that refer to it bigint, where nothing rests on their types, which rewrites their tables under a lock; on large tables do it with a new column and \
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
    static func checkTables(_ run: inout RuleRun) {
        let examination = run.examination
        for diagnostic in examination.schema.diagnostics where diagnostic.code == .missingKey {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid],
                !relation.isView, !ForeignKeyRules.isHelperWithoutKey(relation, examination),
                let entity = examination.schema[diagnostic.entity]
            else { continue }
            let names = examination.columns(of: oid).map(\.name)
            run.report(
                relation, "The table \(relation.qualifiedName) has no key, so that its objects can only be read",
                facts: [("columns", names.joined(separator: ", "))],
                repair: {
                    guard relation.holdsRows else { return [] }
                    // Tables that inherit cannot get an identity from their parent, and a typed table has its type's
                    // columns.
                    if relation.isTyped || examination.hasChildren(oid) { return [] }
                    if names.contains("id") || entity.relationship(named: "id") != nil { return [] }
                    return [
                        try RepairText.alter(
                            relation, "ADD COLUMN \"id\" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
                    ]
                })
        }
    }

    static func checkViews(_ run: inout RuleRun) {
        let examination = run.examination
        for diagnostic in examination.schema.diagnostics where diagnostic.code == .missingKey {
            guard let oid = examination.oid(of: diagnostic.entity), let relation = examination.relations[oid],
                relation.isView
            else { continue }
            let names = examination.columns(of: oid).map(\.name)
            run.report(
                relation,
                "The view \(relation.qualifiedName) has no key that is known, so that its objects are not uniqued",
                facts: [("columns", names.joined(separator: ", "))])
        }
    }

    // MARK: Sequences

    static func checkSequences(_ run: inout RuleRun) {
        let examination = run.examination
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
            run.report(
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
            run.skip(
                "The role \(examination.role) may not read \(unreadable.count) sequences: grant it SELECT on them")
        }
    }

    /// Makes a column and the columns that refer to it bigint.
    private static func widening(
        _ relation: DoctorCatalog.Relation, _ column: DoctorCatalog.Column, _ sequence: DoctorCatalog.Sequence,
        _ largest: Int64, _ examination: Examination
    ) throws -> [String] {
        var statements: [String] = []
        if largest < Int64.max, column.type == 21 || column.type == 23 {
            guard examination.typeObstacles(of: column, in: relation).isEmpty else { return [] }
            statements.append(
                try RepairText.alter(relation, "ALTER COLUMN \(try RepairText.name(column.name)) TYPE bigint"))
            for key in examination.foreignKeys where key.target == relation.oid {
                guard let place = key.targetColumns.firstIndex(of: column.number), key.columns.indices.contains(place),
                    let other = examination.relations[key.relation], !other.isPartition,
                    let referring = examination.column(key.columns[place], of: key.relation),
                    referring.type == 21 || referring.type == 23,
                    !(key.relation == relation.oid && referring.number == column.number)
                else { continue }
                guard examination.typeObstacles(of: referring, in: other).isEmpty else { return [] }
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
}
