import KindredDDL
import KindredPostgres

extension ModelPlanner {
    mutating func makeTables() throws {
        var sizes: [Int] = []
        for place in nodes.indices {
            let entity = nodes[place].entity
            if let parent = nodes[place].parent, options.inheritance == .single {
                nodes[place].table = nodes[parent].table
            } else {
                nodes[place].table = plan.tables.count
                let name = relationNames.take(entity.name)
                if name != entity.name {
                    report(.changed, entity.name, "its table is called \(name), as names have 63 bytes")
                }
                plan.tables.append(TablePlan(name: name, origin: .entity(entity.name)))
                keyNames.append(NameSupply())
                constraintNames.append(NameSupply())
            }
            let table = nodes[place].table
            if table == sizes.count { sizes.append(0) }
            sizes[table] += entity.attributes.count + entity.relationships.count
            guard sizes[table] <= ModelGrammar.maximumParts else {
                throw ModelImportError(
                    .inconsistent,
                    "The table of \(entity.name) would have more than \(ModelGrammar.maximumParts) columns; "
                        + "import it with a table for each entity (joined)")
            }
            for attribute in entity.attributes where !attribute.isTransient { keyNames[table].reserve(attribute.name) }
            for relationship in entity.relationships where !relationship.isTransient {
                keyNames[table].reserve(relationship.name)
            }
        }
        for table in plan.tables.indices {
            let members = nodes.indices.filter { nodes[$0].table == table }
            makeKey(of: table, members)
            plan.tables[table].comment = comment(of: members)
        }
        for place in nodes.indices where nodes[place].parent != nil { reportInheritance(of: place) }
        for node in nodes where node.entity.isAbstract && node.concrete.isEmpty {
            report(
                .changed, node.entity.name, "it is abstract and nothing inherits from it, so there are no objects of it"
            )
        }
    }

    mutating func makeKey(of table: Int, _ members: [Int]) {
        let name = plan.tables[table].name
        let key = keyNames[table].takeFirst(of: ["id", "pk", "objectID", "primaryKey"])
        keyColumns.append(key)
        if key != "id" { report(.changed, name, "its key is the column \(key), as id is taken") }
        var column = ColumnPlan(name: key, origin: .key, type: "bigint", isRequired: true, fill: .identity)
        if let first = members.first, nodes[first].parent != nil { column.fill = .nothing }
        plan.tables[table].columns.append(column)
        let constraint = relationNames.take("\(name)_pkey")
        constraintNames[table].reserve(constraint)
        plan.tables[table].constraints.append(
            ConstraintPlan(
                name: constraint, definition: "PRIMARY KEY (" + .column(key) + ")", hasIndex: true, isPrimaryKey: true))
        guard members.count > 1 else {
            discriminators.append(nil)
            return
        }
        let discriminator = keyNames[table].takeFirst(of: ["entity", "entityName", "kind", "discriminator"])
        discriminators.append(discriminator)
        var kind = ColumnPlan(name: discriminator, origin: .discriminator, type: "text", isRequired: true)
        let root = nodes[members[0]]
        if !root.entity.isAbstract { kind.fill = .value(DDL.literal(root.entity.name)) }
        plan.tables[table].columns.append(kind)
        let names = root.concrete
        plan.tables[table].kinds = names
        if !names.isEmpty {
            let list = names.map { DDL.literal($0) }.joined(separator: ", ")
            addCheck(table, "\(discriminator)_known", .column(discriminator) + " IN (\(list))")
        }
    }

    mutating func reportInheritance(of place: Int) {
        guard let parent = nodes[place].parent else { return }
        let entity = nodes[place].entity
        let table = plan.tables[nodes[place].table].name
        if options.inheritance == .single {
            let column = discriminators[nodes[place].table] ?? ""
            report(
                .changed, entity.name,
                "it inherits from \(nodes[parent].entity.name), so its objects are the rows of \(table) whose "
                    + "\(column) is '\(entity.name)'")
        } else {
            report(
                .changed, entity.name,
                "it inherits from \(nodes[parent].entity.name), so each row has the key of a row of "
                    + "\(plan.tables[nodes[parent].table].name), which is written first")
        }
    }

    /// Adds a condition on a table's rows, unless the same is there.
    mutating func addCheck(_ table: Int, _ name: String, _ condition: PlanText) {
        let definition = "CHECK (" + condition + ")"
        if plan.tables[table].constraints.contains(where: { $0.definition == definition }) { return }
        plan.tables[table].constraints.append(
            ConstraintPlan(name: constraintNames[table].take(name), definition: definition))
    }

    /// Refuses rows of an entity, and of the entities below it, without a value.
    mutating func addRequirement(_ node: Int, _ column: String) {
        let table = nodes[node].table
        guard let discriminator = discriminators[table], !nodes[node].concrete.isEmpty else { return }
        let names = nodes[node].concrete.map { DDL.literal($0) }.joined(separator: ", ")
        addCheck(
            table, "\(column)_required",
            .column(discriminator) + " NOT IN (\(names)) OR " + .column(column) + " IS NOT NULL")
    }

    // MARK: Comments

    func comment(of members: [Int]) -> String? {
        let parts = members.compactMap { place -> String? in
            let entity = nodes[place].entity
            guard let text = Self.comment(entity.userInfo) else { return nil }
            return members.count > 1 ? "\(entity.name): \(text)" : text
        }
        return parts.isEmpty ? nil : parts.joined(separator: "\n")
    }

    /// The entries of a user info as text for people; it never passes for an annotation.
    static func comment(_ entries: [CoreDataModel.UserInfoEntry]) -> String? {
        if entries.isEmpty { return nil }
        return "userInfo: " + entries.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
    }
}
