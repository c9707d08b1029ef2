import KindredPostgres

// Privileges, and properties that ALTER gives a thing and takes from it.
extension SchemaPlanner {
    /// Grants, revokes and sets properties that differ.
    ///
    /// - Parameter isLate: Whether it is the turn of things that are made after the constraints, or need a constraint.
    mutating func setProperties(isLate: Bool) throws {
        var statements: [SchemaStatement] = []
        let items = to.items.sorted(by: { $0.key < $1.key }).filter { $0.value.isManaged }
        for (name, item) in items where (stages[name] == .late) == isLate {
            statements += try grantStatements(of: name, item)
        }
        // Behind everything that is made, which they would be for.
        if isLate { statements += try defaultPrivilegeStatements() }
        for (name, item) in items where !(name.isEventTrigger && isCreated(name)) {
            statements += settingStatements(of: name, item) { isLateSetting($0, of: name) == isLate }
        }
        if isLate { constraints += statements } else { main += statements }
    }

    // MARK: Settings

    private func isLateSetting(_ setting: Setting, of name: ItemName) -> Bool {
        if stages[name] == .late || name.kind == .index || name.kind == .constraint { return true }
        return setting.needed.map { isCreated($0) } ?? false
    }

    func settingStatements(
        of name: ItemName, _ item: SchemaItem, _ condition: (Setting) -> Bool = { _ in true }
    ) -> [SchemaStatement] {
        let isNew = isCreated(name) || name.kind == .trigger && replacedObjects.contains(name)
        let old = isNew ? [] : from[name]?.settings ?? []
        let lock = "ACCESS EXCLUSIVE on \(name.schema).\(name.name)"
        var statements: [SchemaStatement] = []
        for setting in old where condition(setting) && !item.settings.contains(where: { $0.key == setting.key }) {
            guard let reset = setting.reset, !isLost(setting, of: name) else { continue }
            statements.append(SchemaStatement(reset, lock: name.kind == .other ? nil : lock))
        }
        for setting in item.settings where condition(setting) && setting.reset != nil {
            let isThere = old.contains { $0.key == setting.key && $0.value == setting.value }
            let isGone = isLost(setting, of: name) || setting.needed.map { isCreated($0) } ?? false
            guard !isThere || isGone else { continue }
            statements.append(SchemaStatement(setting.value, lock: isNew || name.kind == .other ? nil : lock))
        }
        return statements
    }

    /// Whether a property is gone with a column, or with its old type.
    private func isLost(_ setting: Setting, of name: ItemName) -> Bool {
        // The server builds an index anew with the type of its column.
        if name.kind == .index || name.kind == .constraint {
            return (from[name]?.dependencies ?? []).contains { retyped[$0] != nil }
        }
        guard let column = setting.column else { return false }
        if name.kind == .column {
            return retyped[name] != nil && ["storage of ", "compression of "].contains { setting.key.hasPrefix($0) }
        }
        return name.kind == .table && losesColumn(column, of: name)
    }

    /// Whether a table's column, its own or one of its parents', is dropped, even if only to be made again.
    private func losesColumn(_ column: String, of table: ItemName) -> Bool {
        var (seen, queue): (Set<ItemName>, [ItemName]) = ([table], [table])
        while let next = queue.popLast() {
            if dropped.contains(ItemName(kind: .column, schema: next.schema, name: next.name, part: column)) {
                return true
            }
            for parent in from.table(next)?.parents ?? [] where seen.insert(parent).inserted { queue.append(parent) }
        }
        return false
    }

    // MARK: Privileges

    private func grantStatements(of name: ItemName, _ item: SchemaItem) throws -> [SchemaStatement] {
        guard let target = try DDL.grantTarget(name, item.content) else { return [] }
        let wanted = Set(item.grants)
        var (old, isCertain): (Set<Grant>, Bool)
        if isCreated(name) {
            (old, isCertain) = grantsOfNew(name)
        } else {
            (old, isCertain) = (Set(from[name]?.grants ?? []), true)
            if name.kind == .table { old = old.filter { $0.column.isEmpty || !losesColumn($0.column, of: name) } }
        }
        return try changes(from: old, to: wanted, isCertain: isCertain, on: target).map { SchemaStatement($0) }
    }

    /// The privileges that a new thing may have from the beginning, and whether it certainly has them: default
    /// privileges depend on the role that runs the statements.
    private func grantsOfNew(_ name: ItemName) -> (grants: Set<Grant>, isCertain: Bool) {
        let objects: String
        switch name.kind {
        case .table, .view, .foreignTable: objects = "TABLES"
        case .sequence: objects = "SEQUENCES"
        case .function: objects = "FUNCTIONS"
        case .other where name.name == "aggregate": objects = "FUNCTIONS"
        case .type: objects = "TYPES"
        case .schema: objects = "SCHEMAS"
        default: return ([], true)
        }
        var (grants, isCertain) = (Set(Self.publicGrants(on: objects)), true)
        for (other, item) in from.items {
            guard case .defaultPrivileges(let privileges) = item.content, privileges.objects == objects,
                other.schema.isEmpty || other.schema == name.schema
            else { continue }
            grants.formUnion(item.grants)
            isCertain = false
        }
        return (grants, isCertain)
    }

    /// The privileges that the server gives PUBLIC on each new thing.
    private static func publicGrants(on objects: String) -> [Grant] {
        switch objects {
        case "FUNCTIONS": [Grant(role: "", privilege: "EXECUTE")]
        case "TYPES": [Grant(role: "", privilege: "USAGE")]
        default: []
        }
    }

    private func changes(
        from old: Set<Grant>, to wanted: Set<Grant>, isCertain: Bool, on target: String
    ) throws -> [String] {
        func rest(_ grants: Set<Grant>) -> [Grant] { grants.sorted() }
        var revoked: [Grant] = []
        var statements: [String] = []
        for grant in rest(old.subtracting(wanted)) {
            var lesser = grant
            lesser.isGrantable = false
            if grant.isGrantable, wanted.contains(lesser) {
                statements.append(try DDL.revoke(grant, on: target, isOptionOnly: true))
                continue
            }
            // It is granted once more with the right to pass it on.
            var greater = grant
            greater.isGrantable = true
            if wanted.contains(greater) { continue }
            statements.append(try DDL.revoke(grant, on: target))
            if grant.column.isEmpty { revoked.append(grant) }
        }
        for grant in rest(wanted) {
            var greater = grant
            greater.isGrantable = true
            let isThere = isCertain && (old.contains(grant) || old.contains(greater))
            // A role that loses a privilege on a table loses it on the columns, too.
            let isLost = revoked.contains {
                !grant.column.isEmpty && $0.role == grant.role && $0.privilege == grant.privilege
            }
            if !isThere || isLost { statements.append(try DDL.grant(grant, on: target)) }
        }
        return statements
    }

    private func defaultPrivilegeStatements() throws -> [SchemaStatement] {
        var statements: [SchemaStatement] = []
        for name in Set(from.items.keys).union(to.items.keys).sorted() {
            guard case .defaultPrivileges(let privileges)? = (to[name] ?? from[name])?.content else { continue }
            // Default privileges are gone with their schema.
            if !name.schema.isEmpty, to[ItemName(kind: .schema, schema: name.schema)] == nil { continue }
            let unchanged = name.schema.isEmpty ? Self.publicGrants(on: privileges.objects) : []
            statements += try changes(
                from: Set(from[name]?.grants ?? unchanged), to: Set(to[name]?.grants ?? unchanged), isCertain: true,
                on: privileges.objects
            ).map { SchemaStatement("\(privileges.statement) \($0)", note: "for things that are made from now on") }
        }
        return statements
    }
}
