import KindredPostgres

// The first statements: new labels, and the removal of everything that is in the way.
extension SchemaPlanner {
    private func exclusive(_ name: ItemName) -> String { "ACCESS EXCLUSIVE on \(name.schema).\(name.name)" }

    mutating func alterEnums() throws {
        for (name, item) in from.items.sorted(by: { $0.key < $1.key }) {
            guard case .enumeration(let old) = item.content, case .enumeration(let new)? = to[name]?.content,
                !replacedTypes.contains(name)
            else { continue }
            var present = old
            for (index, label) in new.enumerated() where !present.contains(label) {
                var place = ""
                if index > 0 {
                    place = " AFTER \(DDL.literal(new[index - 1]))"
                } else if let first = present.first {
                    place = " BEFORE \(DDL.literal(first))"
                }
                enums.append(
                    SchemaStatement(
                        "ALTER TYPE \(try DDL.path(name)) ADD VALUE \(DDL.literal(label))\(place)",
                        note: "a new label can be used when it is committed"))
                present.insert(label, at: index)
            }
        }
    }

    /// Drops everything that is in the way, each thing before the things that it depends on.
    mutating func dropThings() throws {
        // Event triggers first: they would run for the statements below.
        for name in dropped.sorted() where name.isEventTrigger { try drop(object: name) }
        try detachTables()
        for name in dropped.sorted() where from.constraint(name)?.kind == .foreignKey {
            try drop(constraint: name)
        }
        try detachReferencedPartitions()
        try dropDefaults()
        try dropOverriddenDefaults()
        for name in from.ordered(dropped).reversed() {
            switch name.kind {
            case .other where name.isEventTrigger: break
            case .trigger, .policy, .function, .foreignTable, .other: try drop(object: name)
            case .column where isDroppedEarly(name):
                main.append(
                    SchemaStatement(
                        "ALTER TABLE \(try DDL.path(name)) DROP COLUMN \(try DDL.name(name.part))",
                        lock: exclusive(name), canLoseData: to[name] == nil || from.column(name)?.generation == nil,
                        note: to[name] == nil ? nil : "made again below"))
            case .view:
                let isMaterialized = from.view(name)?.isMaterialized == true
                main.append(
                    SchemaStatement(
                        "DROP \(isMaterialized ? "MATERIALIZED " : "")VIEW \(try DDL.path(name))",
                        lock: exclusive(name),
                        note: to[name] == nil ? nil : "made again below"))
            case .index:
                guard let index = from.index(name), !dropped.contains(index.relation) else { continue }
                if isDroppedConcurrently(name, index) {
                    concurrentDrops.append(
                        SchemaStatement(
                            "DROP INDEX CONCURRENTLY \(try DDL.path(name))",
                            lock: "SHARE UPDATE EXCLUSIVE on \(index.relation.shown)",
                            note: to[name] == nil ? nil : "made again below"))
                    continue
                }
                main.append(
                    SchemaStatement(
                        "DROP INDEX \(try DDL.path(name))",
                        lock: exclusive(index.relation), note: to[name] == nil ? nil : "made again below"))
            case .constraint where from.constraint(name)?.kind != .foreignKey: try drop(constraint: name)
            case .table:
                main.append(
                    SchemaStatement(
                        "DROP TABLE \(try DDL.path(name))", lock: exclusive(name), canLoseData: true,
                        note: to[name] == nil ? nil : "made again below, without rows"))
            default: break
            }
        }
        try dropIdentities()
        for name in dropped.sorted() where name.kind == .sequence {
            // It goes with its column, or its table.
            let owner = from.sequence(name)?.owner
            // Columns are dropped later; a table is gone.
            if let owner, dropped.contains(owner) || dropped.contains(owner.owner()) { continue }
            // An identity goes on where its column's sequence was.
            let goesOn = owner.map { to.column($0)?.identity != nil } ?? false
            main.append(
                SchemaStatement("DROP SEQUENCE \(try DDL.path(name))", lock: exclusive(name), canLoseData: !goesOn))
        }
    }

    /// Whether a column goes before something that it needs: the table or view whose rows it holds, or a function.
    func isDroppedEarly(_ column: ItemName) -> Bool {
        guard column.kind == .column, dropped.contains(column), isKept(column.owner()) else { return false }
        return from[column]?.dependencies.contains { name in
            switch name.kind {
            case .table, .view, .foreignTable: name != column.owner() && dropped.contains(name)
            case .function, .other: dropped.contains(name)
            default: false
            }
        } ?? false
    }

    /// Whether an index goes outside of the transaction: nothing else goes that would take it along, or needs its name.
    private func isDroppedConcurrently(_ name: ItemName, _ index: IndexItem) -> Bool {
        guard isConcurrent, to[index.relation] != nil, from.table(index.relation)?.isPartitioned != true else {
            return false
        }
        let stands = (from[name]?.dependencies ?? []).allSatisfy {
            !dropped.contains($0) && retyped[$0] == nil && !replacedTypes.contains($0)
        }
        guard stands else { return false }
        for kind: ItemName.Kind in [.table, .foreignTable, .view, .sequence, .type] where isCreated(name.named(kind)) {
            return false
        }
        return !to.items.keys.contains {
            $0.kind == .constraint && $0.schema == name.schema && $0.part == name.name && isCreated($0)
        }
    }

    private mutating func drop(constraint name: ItemName) throws {
        guard let constraint = from.constraint(name) else { return }
        if constraint.isOfDomain {
            let type = name.owner(.type)
            guard !dropped.contains(type), !replacedTypes.contains(type) else { return }
            main.append(
                SchemaStatement("ALTER DOMAIN \(try DDL.path(name)) DROP CONSTRAINT \(try DDL.name(name.part))"))
        } else if !dropped.contains(name.owner()) || constraint.kind == .foreignKey {
            main.append(
                SchemaStatement(
                    "ALTER TABLE \(try DDL.path(name)) DROP CONSTRAINT \(try DDL.name(name.part))",
                    lock: exclusive(name),
                    note: to[name] == nil ? nil : "made again below"))
        }
    }

    /// Tables leave their parents before those go.
    private mutating func detachTables() throws {
        for (name, item) in from.items.sorted(by: { $0.key < $1.key }) {
            guard case .sequence(let old) = item.content, let owner = old.owner, !dropped.contains(name),
                dropped.contains(owner) || to.sequence(name)?.owner != owner
            else { continue }
            main.append(SchemaStatement("ALTER SEQUENCE \(try DDL.path(name)) OWNED BY NONE", lock: exclusive(name)))
        }
        for (name, item) in from.items.sorted(by: { $0.key < $1.key }) {
            guard case .table(let old) = item.content, isKept(name), let new = to.table(name),
                old.parents != new.parents || old.bound != new.bound
            else { continue }
            for parent in old.parents where old.bound != new.bound || !new.parents.contains(parent) {
                let sql =
                    old.bound == nil
                    ? "ALTER TABLE \(try DDL.path(name)) NO INHERIT \(try DDL.path(parent))"
                    : "ALTER TABLE \(try DDL.path(parent)) DETACH PARTITION \(try DDL.path(name))"
                main.append(SchemaStatement(sql, lock: exclusive(old.bound == nil ? name : parent)))
            }
        }
    }

    /// A partition that foreign keys refer to by way of its parents cannot be dropped before it is detached from them.
    private mutating func detachReferencedPartitions() throws {
        var referenced: Set<ItemName> = []
        for (name, item) in from.items where from.constraint(name)?.kind == .foreignKey && !dropped.contains(name) {
            referenced.formUnion(item.dependencies.map { $0.owner() })
        }
        for name in dropped.sorted() where from.table(name)?.bound != nil {
            guard let parent = from.table(name)?.parents.first, !dropped.contains(parent) else { continue }
            var above: ItemName? = parent
            while let next = above, !referenced.contains(next) { above = from.table(next)?.parents.first }
            guard above != nil else { continue }
            main.append(
                SchemaStatement(
                    "ALTER TABLE \(try DDL.path(parent)) DETACH PARTITION \(try DDL.path(name))",
                    lock: exclusive(parent),
                    note: "fails where rows refer to its rows"))
        }
    }

    /// Takes away defaults that are not to stay, before anything goes or changes that they depend on.
    private mutating func dropDefaults() throws {
        for (name, old, new) in keptColumns where old.defaultText != nil {
            if new.defaultText == nil || retyped[name] != nil || resetDefaults.contains(name) {
                main.append(try alter(name, "DROP DEFAULT"))
            }
        }
    }

    /// Takes away identities, expressions and NOT NULL that are not to stay.
    private mutating func dropIdentities() throws {
        for (name, old, new) in keptColumns {
            if old.identity != nil, new.identity == nil { main.append(try alter(name, "DROP IDENTITY")) }
            if old.generation != nil, new.generation == nil { main.append(try alter(name, "DROP EXPRESSION")) }
            if old.isNotNull, !new.isNotNull { main.append(try alter(name, "DROP NOT NULL")) }
        }
    }

    private var keptColumns: [(name: ItemName, old: ColumnItem, new: ColumnItem)] {
        from.items.keys.sorted().compactMap { name in
            guard let old = from.column(name), !dropped.contains(name), let new = to.column(name) else { return nil }
            return (name, old, new)
        }
    }

    private func alter(_ column: ItemName, _ action: String) throws -> SchemaStatement {
        SchemaStatement(
            "ALTER TABLE \(try DDL.path(column)) ALTER COLUMN \(try DDL.name(column.part)) \(action)",
            lock: exclusive(column))
    }

    /// Drops things that columns used until now: types that are gone or replaced, extensions and schemas.
    mutating func dropLate() throws {
        for name in from.ordered(Set(replacedTypes)).reversed() {
            let old = replacedName(name)
            main.append(
                SchemaStatement(
                    isDomain(name) ? "DROP DOMAIN \(try DDL.path(old))" : "DROP TYPE \(try DDL.path(old))"))
        }
        for name in from.ordered(dropped).reversed() where name.kind == .type {
            let path = try DDL.path(renamedTypes.contains(name) ? replacedName(name) : name)
            main.append(
                SchemaStatement(isDomain(name) ? "DROP DOMAIN \(path)" : "DROP TYPE \(path)", canLoseData: false))
        }
        main += lateDrops
        for name in from.ordered(dropped).reversed() where name.kind == .extension {
            main.append(
                SchemaStatement("DROP EXTENSION \(try DDL.name(name.name))", note: "fails if something still uses it"))
        }
        for name in dropped.sorted() where name.kind == .schema {
            main.append(
                SchemaStatement("DROP SCHEMA \(try DDL.name(name.schema))", note: "fails if something is left in it"))
        }
    }

    private func isDomain(_ name: ItemName) -> Bool {
        if case .domain = from[name]?.content { true } else { false }
    }

    /// The name of a type between the making of something that takes its own and its end.
    func replacedName(_ name: ItemName) -> ItemName {
        var name = name
        name.name = "kindred_replaced_\((renamedTypes.firstIndex(of: name) ?? 0) + 1)"
        return name
    }
}
