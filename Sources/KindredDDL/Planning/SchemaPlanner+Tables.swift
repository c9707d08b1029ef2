import KindredPostgres

// Types, sequences and tables that are made or altered in place.
extension SchemaPlanner {
    private func exclusive(_ name: ItemName) -> String { "ACCESS EXCLUSIVE on \(name.schema).\(name.name)" }

    mutating func createThings() throws {
        for name in renamedTypes {
            let isDomain = if case .domain = from[name]?.content { true } else { false }
            main.append(
                SchemaStatement(
                    "ALTER \(isDomain ? "DOMAIN" : "TYPE") \(try DDL.path(name)) RENAME TO "
                        + (try DDL.name(replacedName(name).name)), lock: "ACCESS EXCLUSIVE on the type",
                    note: "another thing of its name is made below"))
        }
        for name in to.items.keys.sorted() where name.kind == .schema && isCreated(name) {
            main.append(SchemaStatement("CREATE SCHEMA \(try DDL.name(name.schema))"))
        }
        try alterExtensions()
        let created = Set(
            to.items.keys.filter { name in
                switch name.kind {
                case .type, .sequence, .table: isCreated(name) && to[name]?.isManaged == true
                default: stages[name] == .withTables
                }
            })
        let order = to.ordered(created) { [to] part in
            switch part.kind {
            case .column: return created.contains(part.owner()) ? part.owner() : part
            case .constraint:
                if to.constraint(part)?.kind == .foreignKey { return part }
                return created.contains(part.owner()) ? part.owner() : part.owner(.type)
            default: return part
            }
        }
        for name in order { try create(name) }
        try alterTypes()
    }

    private mutating func create(_ name: ItemName) throws {
        switch to[name]?.content {
        case .enumeration, .domain, .composite, .range: main.append(SchemaStatement(try DDL.createType(name, in: to)))
        case .sequence(let sequence): main.append(SchemaStatement(try DDL.createSequence(name, sequence)))
        case .table(let table):
            let lock = table.parents.first.map {
                table.bound == nil ? "SHARE UPDATE EXCLUSIVE on \($0.shown)" : "ACCESS EXCLUSIVE on \($0.shown)"
            }
            main.append(SchemaStatement(try DDL.createTable(name, in: to), lock: lock))
        default: main += try making(name)
        }
    }

    private mutating func alterTypes() throws {
        for (name, item) in from.items.sorted(by: { $0.key < $1.key }) where !replacedTypes.contains(name) {
            switch (item.content, to[name]?.content) {
            case (.domain(let old), .domain(let new)?):
                func alter(_ action: String, _ note: String? = nil) throws {
                    main.append(
                        SchemaStatement(
                            "ALTER DOMAIN \(try DDL.path(name)) \(action)", lock: "SHARE on tables that use it",
                            note: note))
                }
                if old.defaultText != new.defaultText {
                    try alter(new.defaultText.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT")
                }
                if old.isNotNull != new.isNotNull {
                    try alter(
                        new.isNotNull ? "SET NOT NULL" : "DROP NOT NULL",
                        new.isNotNull ? "reads every table that uses it; fails where a value is NULL" : nil)
                }
            case (.composite(let old), .composite(let new)?):
                for field in old where !new.contains(where: { $0.name == field.name }) {
                    main.append(
                        SchemaStatement(
                            "ALTER TYPE \(try DDL.path(name)) DROP ATTRIBUTE \(try DDL.name(field.name))",
                            lock: "ACCESS EXCLUSIVE on the type", canLoseData: true))
                }
                for field in new {
                    if let before = old.first(where: { $0.name == field.name }) {
                        guard before != field else { continue }
                        main.append(
                            SchemaStatement(
                                "ALTER TYPE \(try DDL.path(name)) ALTER ATTRIBUTE \(try DDL.name(field.name)) TYPE "
                                    + field.type + (field.collation.map { " COLLATE \($0)" } ?? ""),
                                lock: "ACCESS EXCLUSIVE on the type"))
                    } else {
                        main.append(
                            SchemaStatement(
                                "ALTER TYPE \(try DDL.path(name)) ADD ATTRIBUTE \(try DDL.field(field))",
                                lock: "ACCESS EXCLUSIVE on the type"))
                    }
                }
            default: break
            }
        }
    }

    mutating func alterTables() throws {
        let kept = to.items.keys.filter { $0.kind == .table && isKept($0) }.sorted()
        for name in kept { try alterTable(name) }
        try alterSequences()
        for name in kept { try attach(name) }
    }

    private mutating func alterTable(_ name: ItemName) throws {
        guard let old = from.table(name), let new = to.table(name) else { return }
        let path = try DDL.path(name)
        func alter(
            _ action: String, rewrites: Bool = false, canLoseData: Bool = false, note: String? = nil
        ) -> SchemaStatement {
            SchemaStatement(
                "ALTER TABLE \(path) \(action)", lock: exclusive(name), rewrites: rewrites, canLoseData: canLoseData,
                note: note)
        }
        // Columns whose values are calculated go first and come last, since they depend on the other columns.
        for column in from.columns(of: name)
        where dropped.contains(column) && from.column(column)?.generation != nil && !isDroppedEarly(column) {
            main.append(
                alter(
                    "DROP COLUMN \(try DDL.name(column.part))", canLoseData: to[column] == nil,
                    note: to[column] == nil ? nil : "made again below"))
        }
        for column in from.columns(of: name)
        where dropped.contains(column) && from.column(column)?.generation == nil && !isDroppedEarly(column) {
            main.append(alter("DROP COLUMN \(try DDL.name(column.part))", canLoseData: true))
        }
        if old.isUnlogged != new.isUnlogged {
            main.append(alter(new.isUnlogged ? "SET UNLOGGED" : "SET LOGGED", rewrites: true))
        }
        let reset = try old.options.map(DDL.optionName).filter { name in
            try !new.options.map(DDL.optionName).contains(name)
        }
        if !reset.isEmpty { main.append(alter("RESET (\(reset.joined(separator: ", ")))")) }
        let set = try new.options.filter { !old.options.contains($0) }.map(DDL.option)
        if !set.isEmpty { main.append(alter("SET (\(set.joined(separator: ", ")))")) }

        let columns = to.columns(of: name)
        let changes = try columns.compactMap { column -> (action: String, change: TypeChange)? in
            guard let change = retyped[column], !dropped.contains(column) else { return nil }
            let quoted = try DDL.name(column.part)
            var action = "ALTER COLUMN \(quoted) TYPE \(change.to.type)"
            if let collation = change.to.collation { action += " COLLATE \(collation)" }
            if let conversion = change.conversion(of: quoted, casts: from) { action += " USING \(conversion)" }
            return (action, change)
        }
        if !changes.isEmpty {
            main.append(
                alter(
                    changes.map(\.action).joined(separator: ", "), rewrites: changes.contains { $0.change.rewrites },
                    canLoseData: changes.contains { $0.change.canLoseData },
                    note: changes.compactMap(\.change.note).min()))
        }
        let added = columns.filter { isCreated($0) }
        for column in added {
            if let new = to.column(column), new.generation == nil { main.append(try add(column, new)) }
        }
        for column in columns { try alterColumn(column) }
        for column in added {
            if let new = to.column(column), new.generation != nil { main.append(try add(column, new)) }
        }
    }

    private func add(_ name: ItemName, _ column: ColumnItem) throws -> SchemaStatement {
        var notes: [String] = []
        let isComputed = column.generation != nil || column.identity != nil
        if column.isNotNull, column.defaultText == nil, !isComputed { notes.append("fails if the table has rows") }
        if column.defaultText?.contains("(") == true {
            notes.append("rewrites the table if the default is not the same for all rows")
        }
        return SchemaStatement(
            "ALTER TABLE \(try DDL.path(name)) ADD COLUMN \(try DDL.column(name.part, column))", lock: exclusive(name),
            rewrites: isComputed, note: notes.isEmpty ? nil : notes.joined(separator: "; "))
    }

    private mutating func alterColumn(_ name: ItemName) throws {
        guard let old = from.column(name), let new = to.column(name), !dropped.contains(name) else { return }
        let (path, column) = (try DDL.path(name), try DDL.name(name.part))
        func alter(_ action: String, note: String? = nil) -> SchemaStatement {
            SchemaStatement("ALTER TABLE \(path) ALTER COLUMN \(column) \(action)", lock: exclusive(name), note: note)
        }
        let isReset = retyped[name] != nil || resetDefaults.contains(name)
        if let defaultText = new.defaultText, old.defaultText != defaultText || isReset || old.generation != nil {
            main.append(alter("SET DEFAULT \(defaultText)"))
        }
        if new.isNotNull, !old.isNotNull {
            try setNotNull(name.part, of: name.owner(), isEmpty: new.identity != nil && old.identity == nil)
        }
        guard let identity = new.identity else { return }
        guard let before = old.identity else {
            main.append(
                alter("ADD \(DDL.generated(identity, new))"))
            try continueSequence(of: name, new.identityOptions)
            return
        }
        if before != identity { main.append(alter("SET GENERATED \(DDL.words(identity))")) }
        let options = new.identityOptions.filter { !old.identityOptions.contains($0) }
        if !options.isEmpty { main.append(alter(options.map { "SET \($0)" }.joined(separator: " "))) }
    }

    /// Sets a column NOT NULL.
    ///
    /// - Parameter isEmpty: Whether rows need not be read without blocking other sessions: the table is new, or the
    ///   column has to be ready at once.
    mutating func setNotNull(_ column: String, of table: ItemName, isEmpty: Bool) throws {
        let (path, quoted) = (try DDL.path(table), try DDL.name(column))
        let set = "ALTER TABLE \(path) ALTER COLUMN \(quoted) SET NOT NULL"
        guard isConcurrent, !isEmpty else {
            if fillsNulls, to.state(of: column, in: table)?.defaultText != nil {
                main.append(
                    SchemaStatement(
                        "UPDATE \(path) SET \(quoted) = DEFAULT WHERE \(quoted) IS NULL",
                        lock: "ROW EXCLUSIVE on \(table.shown)"))
            }
            main.append(
                SchemaStatement(set, lock: exclusive(table), note: "reads the table; fails where a value is NULL"))
            return
        }
        let helper = try DDL.name(helperName())
        main.append(
            SchemaStatement(
                "ALTER TABLE \(path) ADD CONSTRAINT \(helper) CHECK (\(quoted) IS NOT NULL) NOT VALID",
                lock: exclusive(table)))
        concurrent.append(
            SchemaStatement(
                "ALTER TABLE \(path) VALIDATE CONSTRAINT \(helper)",
                lock: "SHARE UPDATE EXCLUSIVE on \(table.schema).\(table.name)",
                note: "reads the table; fails where a value is NULL"))
        constraints.append(
            SchemaStatement(set, lock: exclusive(table), note: "reads no row, since the constraint proves it"))
        constraints.append(SchemaStatement("ALTER TABLE \(path) DROP CONSTRAINT \(helper)", lock: exclusive(table)))
    }

    private mutating func attach(_ name: ItemName) throws {
        guard let old = from.table(name), let new = to.table(name),
            old.parents != new.parents || old.bound != new.bound
        else { return }
        for parent in new.parents where old.bound != new.bound || !old.parents.contains(parent) {
            let (table, above) = (try DDL.path(name), try DDL.path(parent))
            let sql =
                if let bound = new.bound {
                    "ALTER TABLE \(above) ATTACH PARTITION \(table) \(bound)"
                } else {
                    "ALTER TABLE \(table) INHERIT \(above)"
                }
            main.append(SchemaStatement(sql, lock: exclusive(name), note: "reads the table"))
        }
    }
}
