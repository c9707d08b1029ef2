import KindredPostgres

// The last statements: constraints, indexes, and comments.
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
        // A new table has its constraints already, except constraints that are not valid.
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

    /// The indexes of partitioned tables come before the indexes of their partitions: an index that a partition has
    /// already would become a part of its parent's index, and not an index beside it.
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

    /// Makes the indexes of materialized views.
    mutating func createViewIndexes() throws {
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

    mutating func setComments() throws {
        for (name, item) in to.items.sorted(by: { $0.key < $1.key }) where item.isManaged {
            let isNew = isCreated(name) || replacedTypes.contains(name.owner(.type))
            // A new extension brings its comment along, and an event trigger is made last.
            if isNew, name.kind == .extension || name.isEventTrigger { continue }
            let old = isNew ? nil : from[name]?.comment
            guard old != item.comment, let sql = try DDL.comment(name, item.content, item.comment) else { continue }
            constraints.append(
                SchemaStatement(sql, lock: "SHARE UPDATE EXCLUSIVE on \(name.shown)"))
        }
    }
}
