// What runs last: constraints, indexes, views, triggers that were in the way, and comments.
extension SchemaPlanner {
    private func exclusive(_ name: ItemName) -> String { "ACCESS EXCLUSIVE on \(name.schema).\(name.name)" }

    mutating func addConstraints() throws {
        let all = to.items.keys.filter { $0.kind == .constraint }.sorted()
        for name in all {
            guard let constraint = to.constraint(name), constraint.kind != .foreignKey else { continue }
            if isCreated(name) {
                try constraint.isOfDomain ? addToDomain(name, constraint) : addToTable(name, constraint)
            } else {
                try validate(name, constraint)
            }
        }
        for index in createdTableIndexes { addIndex(index) }
        for name in all {
            guard let constraint = to.constraint(name), constraint.kind == .foreignKey else { continue }
            if isCreated(name) { try addForeignKey(name, constraint) } else { try validate(name, constraint) }
        }
    }

    private mutating func validate(_ name: ItemName, _ constraint: ConstraintItem) throws {
        guard constraint.isValid, from.constraint(name)?.isValid == false else { return }
        validations.append(try validation(of: name, constraint))
    }

    private func validation(of name: ItemName, _ constraint: ConstraintItem) throws -> SchemaStatement {
        SchemaStatement(
            "ALTER \(constraint.isOfDomain ? "DOMAIN" : "TABLE") \(try DDL.path(name)) VALIDATE CONSTRAINT "
                + (try DDL.name(name.part)),
            lock:
                "\(constraint.isOfDomain ? "SHARE on tables that use it" : "SHARE UPDATE EXCLUSIVE on \(name.schema).\(name.name)")",
            note: "reads the table; fails where a row breaks the constraint")
    }

    private mutating func addToDomain(_ name: ItemName, _ constraint: ConstraintItem) throws {
        let type = name.owner(.type)
        guard !isCreated(type) else { return }
        let isLater = isConcurrent || !constraint.isValid
        constraints.append(
            SchemaStatement(
                "ALTER DOMAIN \(try DDL.path(name)) ADD CONSTRAINT \(try DDL.name(name.part)) \(constraint.definition)"
                    + (isLater ? " NOT VALID" : ""), lock: "SHARE on tables that use it"))
        if isConcurrent, constraint.isValid { validations.append(try validation(of: name, constraint)) }
    }

    private mutating func addToTable(_ name: ItemName, _ constraint: ConstraintItem) throws {
        let isNew = !isKept(name.owner())
        // A new table has them already, but for those that are not valid.
        if isNew, constraint.isValid { return }
        let (path, part) = (try DDL.path(name), try DDL.name(name.part))
        let isLater = isConcurrent && !isNew && constraint.isValid
        if isLater, let index = constraint.index, !isPartitioned(name.owner()),
            !constraint.definition.contains("WITHOUT OVERLAPS")
        {
            concurrent.append(
                SchemaStatement(
                    DDL.concurrently(index), lock: "SHARE UPDATE EXCLUSIVE on \(name.schema).\(name.name)",
                    note: "fails where rows have the same values, and leaves an invalid index"))
            constraints.append(
                SchemaStatement(
                    "ALTER TABLE \(path) ADD CONSTRAINT \(part) "
                        + "\(constraint.kind == .primaryKey ? "PRIMARY KEY" : "UNIQUE") USING INDEX \(part)\(constraint.deferral)",
                    lock: exclusive(name)))
            return
        }
        let waits = constraint.kind == .check && (isLater || !constraint.isValid)
        constraints.append(
            SchemaStatement(
                "ALTER TABLE \(path) ADD CONSTRAINT \(part) \(constraint.definition)\(waits ? " NOT VALID" : "")",
                lock: exclusive(name), note: waits ? nil : "reads the table; fails where a row breaks the constraint"))
        if waits, constraint.isValid { validations.append(try validation(of: name, constraint)) }
    }

    private mutating func addForeignKey(_ name: ItemName, _ constraint: ConstraintItem) throws {
        let isNew = !isKept(name.owner())
        let waits = !constraint.isValid || isConcurrent && !isNew && !isPartitioned(name.owner())
        constraints.append(
            SchemaStatement(
                "ALTER TABLE \(try DDL.path(name)) ADD CONSTRAINT \(try DDL.name(name.part)) \(constraint.definition)"
                    + (waits ? " NOT VALID" : ""),
                lock: "SHARE ROW EXCLUSIVE on \(name.schema).\(name.name) and on the table it refers to",
                note: waits || isNew ? nil : "reads the table; fails where a row breaks the constraint"))
        if waits, constraint.isValid { validations.append(try validation(of: name, constraint)) }
    }

    /// Those of partitioned tables before those of their partitions: an index of a partition that is there already would
    /// become the part of its parent's, and not one beside it.
    private var createdTableIndexes: [IndexItem] {
        let indexes = to.items.keys.sorted().compactMap { name -> IndexItem? in
            guard name.kind == .index, isCreated(name), let index = to.index(name), index.relation.kind == .table
            else { return nil }
            return index
        }
        let depths = indexes.map { to.depth(of: $0.relation) }
        return indexes.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }.map { indexes[$0] }
    }

    /// Whether a table above gets an index with the same change.
    private func getsIndexAbove(_ relation: ItemName) -> Bool {
        let relations = Set(createdTableIndexes.map(\.relation))
        var next = to.table(relation)?.parents.first
        while let parent = next {
            if relations.contains(parent) { return true }
            next = to.table(parent)?.parents.first
        }
        return false
    }

    private mutating func addIndex(_ index: IndexItem) {
        let relation = index.relation
        if isConcurrent, isKept(relation), to.table(relation)?.bound != nil, getsIndexAbove(relation) {
            validations.append(
                SchemaStatement(
                    isPartitioned(relation) ? index.definition : DDL.concurrently(index.definition),
                    lock: "SHARE UPDATE EXCLUSIVE on \(relation.shown)",
                    note: "if it fails, it leaves an invalid index to drop"))
        } else if !isKept(relation) {
            main.append(SchemaStatement(index.definition))
        } else if isConcurrent, !isPartitioned(relation) {
            concurrent.append(
                SchemaStatement(
                    DDL.concurrently(index.definition), lock: "SHARE UPDATE EXCLUSIVE on \(relation.shown)",
                    note: "if it fails, it leaves an invalid index to drop"))
        } else {
            constraints.append(
                SchemaStatement(index.definition, lock: "SHARE on \(relation.shown)", note: "reads the table"))
        }
    }

    mutating func createViews() throws {
        let views = to.items.keys.filter {
            $0.kind == .view && (isCreated($0) || replacedViews.contains($0))
        }
        for name in to.ordered(Set(views)) {
            guard let view = to.view(name) else { continue }
            let isReplaced = replacedViews.contains(name) && !dropped.contains(name)
            if !isComplete {
                constraints.append(
                    SchemaStatement(
                        try DDL.createView(name, view, orReplace: isReplaced),
                        lock: isReplaced ? exclusive(name) : nil,
                        note: view.isMaterialized ? "runs the query" : nil))
            }
            // What was granted on a view goes with it.
            for grant in isReplaced ? [] : isComplete ? to[name]?.grants ?? [] : from[name]?.grants ?? [] {
                constraints.append(SchemaStatement(try DDL.grant(grant, on: name)))
            }
        }
        for name in to.items.keys.sorted() where name.kind == .index && isCreated(name) {
            guard let index = to.index(name), index.relation.kind == .view else { continue }
            if from[index.relation] != nil, !dropped.contains(index.relation), isConcurrent {
                concurrent.append(
                    SchemaStatement(
                        DDL.concurrently(index.definition), lock: "SHARE UPDATE EXCLUSIVE on \(index.relation.shown)"))
            } else {
                constraints.append(SchemaStatement(index.definition))
            }
        }
    }

    /// What was granted on a table, and its row security, go with it where it is dropped to be made again.
    mutating func secureTables() throws {
        for (name, item) in from.items.sorted(by: { $0.key < $1.key })
        where name.kind == .table && dropped.contains(name) && to[name] != nil {
            for grant in item.grants { constraints.append(SchemaStatement(try DDL.grant(grant, on: name))) }
            guard case .other(let security)? = from[name.rowSecurity]?.content else { continue }
            for word in security.hasSuffix("forced") ? ["ENABLE", "FORCE"] : ["ENABLE"] {
                constraints.append(SchemaStatement("ALTER TABLE \(try DDL.path(name)) \(word) ROW LEVEL SECURITY"))
            }
        }
    }

    mutating func recreateTriggers() throws {
        let source = isComplete ? to : from
        for (name, item) in source.items.sorted(by: { $0.key < $1.key }) {
            guard name.kind == .trigger || name.kind == .policy, isComplete || dropped.contains(name),
                to[name.owner()] != nil || to[name.owner(.view)] != nil, case .other(let definition) = item.content
            else { continue }
            constraints.append(SchemaStatement(definition, lock: "SHARE ROW EXCLUSIVE on \(name.schema).\(name.name)"))
            for (mark, word) in [("D", "DISABLE"), ("R", "ENABLE REPLICA"), ("A", "ENABLE ALWAYS")]
            where name.kind == .trigger && definition.hasSuffix(" /* \(mark) */") {
                constraints.append(
                    SchemaStatement("ALTER TABLE \(try DDL.path(name)) \(word) TRIGGER \(try DDL.name(name.part))"))
            }
        }
    }

    mutating func setComments() throws {
        for (name, item) in to.items.sorted(by: { $0.key < $1.key }) where Self.isManaged(name) {
            let isNew = isCreated(name) || replacedTypes.contains(name.owner(.type))
            let old = isNew ? nil : from[name]?.comment
            guard old != item.comment, let sql = try DDL.comment(name, item.content, item.comment) else { continue }
            constraints.append(
                SchemaStatement(sql, lock: "SHARE UPDATE EXCLUSIVE on \(name.shown)"))
        }
    }
}
