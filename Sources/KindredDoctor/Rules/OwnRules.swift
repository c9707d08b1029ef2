import KindredSchema

extension DoctorRule {
    /// K5: what Kindred itself needs.
    static let ownRules: [DoctorRule] = [
        DoctorRule(
            "K501", "misfitting-annotation", .error,
            "An annotation that is malformed, names nothing, or clashes.",
            explanation: """
                A program does not connect to a database with such a comment, so that a wrong name is noticed at start and not when \
                a relationship is missing; the commands go on without it. The repair takes the members out that do not fit and keeps \
                the rest of the comment; where its JSON cannot be read the whole text stays, without the mark. A rule that does not \
                exist in "ignore" is a note.
                """,
            check: OwnChecks.checkAnnotations),
        DoctorRule(
            "K502", "order-without-unique-key", .note,
            "An ordered set whose positions nothing keeps apart.",
            explanation: """
                Two members with one position come in any order. The repair adds a unique key over the foreign key and the \
                position, deferrable so that one UPDATE can move members; it serves as the foreign key's index, and fails if two \
                members have one position already.
                """,
            check: OwnChecks.checkOrders),
        DoctorRule(
            "K503", "unused-version-column", .note,
            "A column that looks like a version and is not declared as one.",
            explanation: """
                A required integer column named version, lock_version or row_version, without an annotation and without a trigger \
                on UPDATE. The repair declares it as the version by which Kindred detects concurrent changes of a row; other \
                writers must increment it, too.
                """,
            check: OwnChecks.checkVersions),
        DoctorRule(
            "K504", "outdated-classes", .warning,
            "Generated classes that the database has gone on from.",
            explanation: """
                The files of a folder are compared with what `kindred generate` would write today, with the names of the lock
                file beside them. Connecting with classes that do not fit is refused. Say which folder by --generated; tables
                without a class are not looked at, as a folder may be for some tables only.
                """,
            check: OwnChecks.checkClasses),
    ]
}

/// The checks of K5.
enum OwnChecks {
    static func checkAnnotations(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for problem in examination.problems {
            let comment = examination.annotationRepairs.comment(of: problem)
            let relation = (comment?.relation ?? examination.oid(of: problem.entity)).flatMap {
                examination.relations[$0]
            }
            visit.report(
                relation, object: comment?.name, subjects: comment.map { [$0.object] } ?? [],
                "\(problem.location) does not fit: \(problem.reason)",
                facts: [("written in", problem.location)],
                repair: { try examination.annotationRepairs.statements(for: problem, in: examination) })
        }
        let known = Set(DoctorRule.all.map(\.id))
        for (object, text) in examination.facts.comments {
            let unknown = (DoctorAnnotation(text)?.ignoredRules ?? []).subtracting(known).sorted()
            guard !unknown.isEmpty else { continue }
            visit.report(
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

    static func checkOrders(_ visit: inout RuleVisit) {
        let examination = visit.examination
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
                visit.report(
                    relation, object: name, subjects: [.constraint(key.oid)],
                    "Nothing keeps the positions of \(entity.name.name).\(relationship.name) apart",
                    facts: [("position", position), ("foreign key", columns.joined(separator: ", "))],
                    repair: {
                        let list = try RepairText.list(columns + (columns.contains(position) ? [] : [position]))
                        return [try RepairText.alter(relation, "ADD UNIQUE (\(list)) DEFERRABLE")]
                    })
            }
        }
    }

    static func checkClasses(_ visit: inout RuleVisit) {
        guard let (folder, files) = visit.examination.outdated else { return }
        guard let files else {
            return visit.skip("\(folder) holds no generated classes, or its lock file cannot be read")
        }
        for file in files {
            visit.report(
                nil, object: file,
                "The file \(file) in \(folder) does not fit the database any more; run kindred generate again",
                facts: [("folder", folder)])
        }
    }

    private static let versionNames: Set<String> = [
        "version", "lock_version", "row_version", "lockVersion", "rowVersion",
    ]

    static func checkVersions(_ visit: inout RuleVisit) {
        let examination = visit.examination
        for entity in examination.schema.entities where entity.kind == .table && entity.optimisticLocking == nil {
            guard let oid = examination.oid(of: entity.name), let relation = examination.relations[oid],
                !relation.hasUpdateTrigger
            else { continue }
            let keys = examination.foreignKeys(of: oid).flatMap(\.columns)
            let candidates = examination.columns(of: oid).filter { column in
                versionNames.contains(column.name) && column.isNotNull && !column.isGenerated && !column.isIdentity
                    && [20, 21, 23].contains(examination.baseType(column.type)) && !keys.contains(column.number)
                    && !entity.primaryKey.contains(column.name) && entity.attribute(named: column.name) != nil
            }
            guard candidates.count == 1, let column = candidates.first else { continue }
            visit.report(
                relation, object: column.name, subjects: [.column(oid, column.number)],
                "The column \(column.name) of \(relation.qualifiedName) looks like a version, and is not declared as one",
                facts: [("type", column.typeName)],
                repair: {
                    // A version cannot be part of the key, which K301 would make of it.
                    if KeyChecks.keyToBe(of: relation, entity, examination)?.keyColumns.contains(column.number) == true
                    {
                        return []
                    }
                    let comment = examination.facts.comments[.column(oid, column.number)]
                    // Nor can it be lazy.
                    if comment.flatMap(DoctorAnnotation.init)?.members["lazy"] as? Bool == true { return [] }
                    guard let text = DoctorAnnotation.adding(["version": true], to: comment) else { return [] }
                    let name = "\(try RepairText.name(relation)).\(try RepairText.name(column.name))"
                    return ["COMMENT ON COLUMN \(name) IS \(RepairText.literal(text))"]
                })
        }
    }
}
