import KindredPostgres

// Functions, triggers, policies, views, extensions and other things that are made by statements of their own.
extension SchemaPlanner {
    /// The moments at which views and objects are made.
    enum Stage: Int, Comparable {
        /// With types, sequences and tables, since one of them needs it.
        case withTables
        /// Behind the changes of tables, in the same transaction.
        case afterTables
        /// Behind keys and other constraints.
        case late

        static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    /// Decides where views and objects are made.
    ///
    /// A policy or trigger that is dropped for a change of its table is made again in the same transaction, so that
    /// no row is read or written without it, unless it stands on something that is made later.
    mutating func findStages() {
        let made = to.items.keys.filter { isStaged($0) && isMade($0) }
        for name in neededByTables() where isStaged(name) && isMade(name) { stages[name] = .withTables }
        let later = to.items.keys.filter { name in
            guard let constraint = to.constraint(name), constraint.kind != .foreignKey, isCreated(name) else {
                return false
            }
            return constraint.isOfDomain ? !isCreated(name.owner(.type)) : isKept(name.owner()) || !constraint.isValid
        }
        for name in to.ordered(Set(made).union(later)) where stages[name] == nil {
            let isSlow = to.view(name)?.isMaterialized == true || to.constraint(name) != nil
            let needs = (to[name]?.dependencies ?? []).compactMap { stages[$0] }.max() ?? .afterTables
            stages[name] = isSlow ? .late : max(.afterTables, needs)
        }
    }

    private func isStaged(_ name: ItemName) -> Bool {
        switch to[name]?.content {
        case .view?: true
        case .object?: !name.isEventTrigger
        default: false
        }
    }

    /// Everything that tables, types and columns need that are made or changed.
    private func neededByTables() -> Set<ItemName> {
        var seen: Set<ItemName> = []
        var queue = to.items.keys.filter { name in
            switch name.kind {
            case .type, .sequence: return isCreated(name) || from[name]?.content != to[name]?.content
            case .table: return isCreated(name) || from[name]?.content != to[name]?.content
            case .column:
                return to.column(name) != nil
                    && (isCreated(name) || retyped[name] != nil || resetDefaults.contains(name)
                        || from[name]?.content != to[name]?.content)
            case .constraint:
                guard let constraint = to.constraint(name), constraint.kind != .foreignKey else { return false }
                return isCreated(name.owner(constraint.isOfDomain ? .type : .table))
            default: return false
            }
        }
        while let next = queue.popLast() {
            for need in to[next]?.dependencies ?? [] where seen.insert(need).inserted {
                if isStaged(need) && isMade(need) { queue.append(need) }
            }
        }
        return seen
    }

    /// Makes the views and objects of a stage, each after the things that it needs.
    mutating func makeObjects(of stage: Stage) throws {
        let names = Set(stages.filter { $0.value == stage && to.constraint($0.key) == nil }.keys)
        for name in to.ordered(names) {
            let statements = try making(name)
            if stage == .late { constraints += statements } else { main += statements }
        }
    }

    /// The statements that make a view or an object, or replace it.
    func making(_ name: ItemName) throws -> [SchemaStatement] {
        let isReplaced = !isCreated(name)
        switch to[name]?.content {
        case .view(let view)?:
            return [
                SchemaStatement(
                    try DDL.createView(name, view, orReplace: isReplaced),
                    lock: isReplaced ? "ACCESS EXCLUSIVE on \(name.schema).\(name.name)" : nil,
                    note: view.isMaterialized ? "runs the query" : nil)
            ]
        case .object(let object)?:
            return object.definition.map {
                SchemaStatement(
                    isReplaced ? DDL.orReplace($0) : $0,
                    lock: lock(name, "SHARE ROW EXCLUSIVE"), note: isReplaced ? "replaces the one that is there" : nil)
            }
        default: return []
        }
    }

    /// The lock that a trigger, policy, rule or statistics take on their relation.
    func lock(_ name: ItemName, _ ofTrigger: String) -> String? {
        switch (name.kind, name.name) {
        case (.trigger, _): "\(ofTrigger) on \(name.schema).\(name.name)"
        case (.policy, _): "ACCESS EXCLUSIVE on \(name.schema).\(name.name)"
        case (.other, "rule"): "ACCESS EXCLUSIVE on the table or view"
        case (.other, "statistics"): "SHARE UPDATE EXCLUSIVE on the table"
        default: nil
        }
    }

    /// Drops an object, unless it goes with its table or view.
    mutating func drop(object name: ItemName) throws {
        guard let object = from.object(name) else { return }
        let goesAlong = (from[name]?.dependencies ?? []).contains { owner in
            [.table, .view, .foreignTable].contains(owner.kind) && dropped.contains(owner)
        }
        let isPart =
            [.trigger, .policy].contains(name.kind)
            || name.kind == .other && ["rule", "statistics"].contains(name.name)
        if isPart, goesAlong { return }
        let statement = SchemaStatement(
            "DROP \(object.target)",
            lock: name.kind == .foreignTable ? "ACCESS EXCLUSIVE on \(name.shown)" : lock(name, "ACCESS EXCLUSIVE"),
            canLoseData: name.kind == .foreignTable && to[name] == nil,
            note: to[name] == nil ? nil : "made again below")
        if isLeftLate(name) { lateDrops.append(statement) } else { main.append(statement) }
    }

    /// Whether it goes when columns have left it, or with a type that they have left.
    private func isLeftLate(_ name: ItemName) -> Bool {
        if name.kind == .other, name.name == "collation" { return true }
        return (dependents[name] ?? []).contains { dependent in
            let type = from.constraint(dependent)?.isOfDomain == true ? dependent.owner(.type) : dependent
            return type.kind == .type && (dropped.contains(type) || replacedTypes.contains(type))
        }
    }

    // MARK: Extensions and event triggers

    /// Makes extensions, and gives existing extensions their new schema and version.
    mutating func alterExtensions() throws {
        let names = Set(to.items.keys.filter { $0.kind == .extension })
        for name in to.ordered(names) {
            guard case .extension(let new)? = to[name]?.content else { continue }
            let (quoted, schema) = (try DDL.name(name.name), try DDL.name(new.schema))
            guard case .extension(let old)? = from[name]?.content else {
                let version = try new.version.map { " VERSION \(try DDL.name($0))" } ?? ""
                main.append(SchemaStatement("CREATE EXTENSION \(quoted) WITH SCHEMA \(schema)\(version)"))
                continue
            }
            if old.schema != new.schema {
                main.append(SchemaStatement("ALTER EXTENSION \(quoted) SET SCHEMA \(schema)"))
            }
            if old.version != new.version {
                let version = new.version.map { " TO \(DDL.literal($0))" } ?? ""
                main.append(
                    SchemaStatement(
                        "ALTER EXTENSION \(quoted) UPDATE\(version)", note: "runs the extension's own script"))
            }
        }
    }

    /// Makes event triggers at the very end, since they would run for the statements before.
    mutating func createEventTriggers() throws {
        for (name, item) in to.items.sorted(by: { $0.key < $1.key }) where name.isEventTrigger {
            guard case .object(let object) = item.content, isCreated(name) else { continue }
            constraints += object.definition.map { SchemaStatement($0, note: "needs a superuser before PostgreSQL 17") }
            constraints += settingStatements(of: name, item)
            if let comment = item.comment, let sql = try DDL.comment(name, item.content, comment) {
                constraints.append(SchemaStatement(sql))
            }
        }
    }

    /// Functions may name each other, and things that are made later.
    mutating func allowUncheckedBodies() {
        let functions = stages.filter { $0.key.kind == .function }.values
        let statement = SchemaStatement(
            "SET LOCAL check_function_bodies = off", note: "functions may name what is made after them")
        let isInMain = functions.contains { $0 != .late }
        if isInMain { main.insert(statement, at: 0) }
        if functions.contains(.late), isConcurrent || !isInMain { constraints.insert(statement, at: 0) }
    }
}
