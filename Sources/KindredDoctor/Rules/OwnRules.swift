import KindredPostgres
import KindredSchema

extension DoctorRule {
    /// K5: the needs of Kindred itself.
    static let ownRules: [DoctorRule] = [
        DoctorRule(
            "K501", "misfitting-annotation", .error,
            "An annotation that is malformed, names nothing, or clashes.",
            explanation: """
                Each use of the table or view is an error in a program, and a program with a generated class of it does not connect, \
                so that a wrong name is noticed at start and not when a relationship is missing; the commands go on without it. \
                The repair takes the members out that do not fit and keeps \
                the rest of the comment; where its JSON cannot be read the whole text stays, without the mark. A rule that does not \
                exist in "ignore" is a note.
                """,
            check: OwnChecks.checkAnnotations),
        DoctorRule(
            "K502", "order-without-unique-key", .note,
            "An ordered set whose positions nothing keeps apart.",
            explanation: """
                Two members with one position come in any order. The repair adds a unique key over the foreign key and the \
                position, deferrable so that one UPDATE can move members. Its index is made first, beside readers and writers; it \
                serves as the foreign key's, and fails if two members have one position already.
                """,
            check: OwnChecks.checkOrders),
        DoctorRule(
            "K503", "unused-version-column", .note,
            "A column that looks like a version and is not declared as one.",
            explanation: """
                A required integer column named version, lock_version or row_version of a table with a key, without an annotation \
                and without a trigger on UPDATE. Columns of unique keys and tables of old versions are left out: a version there \
                is a number of the row's, and does not count its changes. The repair declares it as the version by which Kindred detects concurrent changes of a row; other \
                writers must increment it, too.
                """,
            check: VersionColumns.check),
        DoctorRule(
            "K504", "outdated-classes", .warning,
            "Generated classes that the database has gone on from.",
            explanation: """
                The files of a folder are compared with what `kindred generate` would write today, with the names of the lock
                file beside them. Connecting with classes that do not fit is refused. Say which folder by --generated; tables
                without a class are not looked at, as a folder may be for some tables only.
                """,
            check: OwnChecks.checkClasses),
        DoctorRule(
            "K505", "kept-key", .note,
            "A generated class that identifies objects by another unique key than would be chosen today.",
            explanation: """
                Without a primary key, objects are identified by a unique key: the replica identity, else a constraint before an \
                index, then the fewest columns, then the name. The lock file keeps the one that was chosen first, as stored object \
                IDs have it. Programs without the classes choose the other one, and so does change tracking, whose changes of the \
                table then are read anew as a whole. Make the kept one the table's primary key, or its \
                REPLICA IDENTITY USING INDEX, and both choose the same.
                """,
            check: OwnChecks.checkKeys),
    ]
}

/// The checks of K5.
enum OwnChecks {
    static func checkAnnotations(_ run: inout RuleRun) {
        let examination = run.examination
        for problem in examination.problems {
            let comment = examination.annotationRepairs.comment(of: problem)
            let relation = (comment?.relation ?? examination.oid(of: problem.entity)).flatMap {
                examination.relations[$0]
            }
            run.report(
                relation, object: comment?.name, subjects: comment.map { [$0.object] } ?? [],
                "\(problem.location) does not fit: \(problem.reason)",
                facts: [("written in", problem.location)],
                repair: { try examination.annotationRepairs.statements(for: problem, in: examination) })
        }
        let known = Set(texts: DoctorRule.all.map(\.id))
        for (object, text) in examination.facts.comments {
            let unknown = (DoctorAnnotation(text)?.ignoredRules ?? []).subtracting(known).sorted().texts
            guard !unknown.isEmpty else { continue }
            run.report(
                relation(of: object, examination), level: .note,
                "A comment ignores \(unknown.joined(separator: ", ")), which is no rule",
                facts: [("comment", String(text.prefix(100)))])
        }
    }

    private static func relation(of object: CatalogObject, _ examination: Examination) -> DoctorCatalog.Relation? {
        switch object {
        case .relation(let oid), .column(let oid, _):
            examination.relations[oid] ?? examination.index(oid).flatMap { examination.relations[$0.relation] }
        case .constraint(let oid):
            examination.facts.foreignKeys.first { $0.oid == oid }.flatMap { examination.relations[$0.relation] }
        case .policy(let oid):
            examination.facts.policies.first { $0.oid == oid }.flatMap { examination.relations[$0.relation] }
        case .function, .schema: nil
        }
    }

    static func checkOrders(_ run: inout RuleRun) {
        let examination = run.examination
        var seen: Set<UInt32> = []
        for entity in examination.schema.entities {
            for relationship in entity.relationships where relationship.isToMany && !relationship.isByView {
                let holder = relationship.helper?.entity ?? relationship.destination
                let columns = relationship.helper?.sourceColumns ?? relationship.destinationColumns
                guard let position = relationship.orderedBy, let oid = examination.oid(of: holder),
                    let relation = examination.relations[oid],
                    let name = relationship.helper?.sourceForeignKey ?? relationship.foreignKey,
                    let key = examination.foreignKey(named: name, of: oid), seen.insert(key.oid).inserted
                else { continue }
                let wanted = Set(columns + [position])
                let isUnique = examination.indexes(of: oid).contains { index in
                    index.isUnique && index.isUsable && index.predicate == nil && index.expressions == nil
                        && Set(examination.names(index.keyColumns, of: oid)).isSubset(of: wanted)
                }
                if isUnique { continue }
                let list = columns + (columns.contains(position) ? [] : [position])
                let made = run.newName(on: relation, list + ["key"])
                run.report(
                    relation, object: name, subjects: [.constraint(key.oid)],
                    "Nothing keeps the positions of \(entity.name.name).\(relationship.name) apart",
                    facts: [("position", position), ("foreign key", columns.joined(separator: ", "))],
                    repair: { try unique(list, named: made, on: relation, examination) })
            }
        }
    }

    /// Makes columns a unique key.
    private static func unique(
        _ columns: [String], named name: String, on relation: DoctorCatalog.Relation, _ examination: Examination
    ) throws -> [String] {
        guard relation.isPartitioned else {
            let key = try RepairText.name(name)
            return [
                try RepairText.createIndex(name, on: relation, columns, isUnique: true),
                try RepairText.alter(relation, "ADD CONSTRAINT \(key) UNIQUE USING INDEX \(key) DEFERRABLE"),
            ]
        }
        // A partition knows its own rows only.
        let parts = examination.columns(of: relation.oid).filter(\.isPartitionKey)
        guard parts.allSatisfy({ columns.contains($0.name) }) else { return [] }
        return [try RepairText.alter(relation, "ADD UNIQUE (\(try RepairText.list(columns))) DEFERRABLE")]
    }

    static func checkKeys(_ run: inout RuleRun) {
        let examination = run.examination
        for (name, kept) in examination.otherKeys.sorted(by: { $0.key < $1.key }) {
            guard let relation = examination.oid(of: name).flatMap({ examination.relations[$0] }),
                let entity = examination.schema[name]
            else { continue }
            run.report(
                relation,
                "The class of \(relation.qualifiedName) identifies objects by \(kept.joined(separator: ", ")), and today "
                    + "\(entity.primaryKey.joined(separator: ", ")) would be chosen",
                facts: [("kept", kept.joined(separator: ", "))])
        }
    }

    static func checkClasses(_ run: inout RuleRun) {
        guard let (folder, files) = run.examination.outdated else { return }
        guard let files else {
            return run.skip("\(folder) holds no generated classes, or its lock file cannot be read")
        }
        for file in files {
            run.report(
                nil, object: file,
                "The file \(file) in \(folder) does not fit the database any more; run kindred generate again",
                facts: [("folder", folder)])
        }
    }
}
