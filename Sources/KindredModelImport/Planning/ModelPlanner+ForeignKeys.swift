import KindredPostgres

extension ModelPlanner {
    /// Makes a foreign key.
    ///
    /// - Parameters:
    ///   - holder: The to-one end, whose entity has the key; nil for a to-many relationship without an inverse.
    ///   - target: The other end; nil for a to-one relationship without an inverse.
    ///   - table: The table that holds the key.
    mutating func makeKey(holder: ModelEnd?, target: ModelEnd?, table: Int) {
        guard let node = holder?.node ?? target?.destination, let targetNode = target?.node ?? holder?.destination
        else { return }
        let targetTable = nodes[targetNode].table
        let isSymmetric = holder != nil && holder == target
        let holderName = name(of: holder)
        var targetName = name(of: target)
        if isSymmetric, let holder, let name = holderName {
            let other = keyNames[targetTable].take("\(name)_inverse")
            targetName = other
            report(
                .changed, subject(holder),
                "it is its own inverse, which a foreign key cannot be: what refers to an object is its \(other)")
        }
        let base = holderName ?? "\(nodes[targetNode].entity.name)_\(targetName ?? "")"
        let column = keyNames[table].take("\(base)_id")
        let isRequired = holder.map { !$0.relationship.isOptional } ?? false
        let isWhole = isWhole(node)
        plan.tables[table].columns.append(
            ColumnPlan(
                name: column,
                origin: .reference(
                    entity: nodes[holder?.node ?? targetNode].entity.name,
                    name: (holder ?? target)?.relationship.name ?? ""),
                type: "bigint", isRequired: isRequired && isWhole))
        if let holder { columns[Property(node: holder.node, name: holder.relationship.name)] = (table, column) }
        if isRequired, !isWhole { addRequirement(node, column) }
        var annotation = ModelAnnotation()
        let constraint = annotation.constraint(
            holder: holderName, target: targetName, column: column, plan.tables[table].name, &constraintNames[table])
        var key = ForeignKeyPlan(
            name: constraint, column: column, target: targetTable, targetColumn: keyColumns[targetTable],
            onDelete: onDelete(target, isRequired, &annotation))
        if let rule = holder?.relationship.deleteRule, rule != .nullify {
            annotation.rules["toOneDeleteRule"] = rule.annotated
        }
        let isOneToOne = target.map { !$0.relationship.isToMany } ?? false
        if let target, target.relationship.isToMany { addCounts(target, &annotation) }
        if isOneToOne {
            addUnique(table, [column])
        } else if let target, target.relationship.isOrdered {
            let position = addPosition(target, table)
            annotation.orderedBy = position
            addUnique(table, [column, position], isDeferrable: true)
        } else {
            addIndex(table, [column])
        }
        let userInfo = (holder?.relationship.userInfo ?? []) + (isSymmetric ? [] : target?.relationship.userInfo ?? [])
        key.comment = annotation.comment(Self.comment(userInfo))
        plan.tables[table].foreignKeys.append(key)
    }

    /// The database's action when the referenced row is deleted; a rule that no action expresses is annotated.
    mutating func onDelete(_ target: ModelEnd?, _ isRequired: Bool, _ annotation: inout ModelAnnotation)
        -> String
    {
        guard let target else { return "NO ACTION" }
        switch target.relationship.deleteRule {
        case .cascade: return "CASCADE"
        case .deny: return "RESTRICT"
        case .noAction:
            report(
                .changed, subject(target),
                "where Core Data would leave references that lead nowhere, the database refuses the deletion")
            return "NO ACTION"
        case .nullify:
            guard isRequired else { return "SET NULL" }
            annotation.rules["deleteRule"] = "nullify"
            report(
                .changed, subject(target),
                "it nullifies a relationship that is required, so an object is not deleted while there are others")
            return "NO ACTION"
        }
    }

    mutating func addCounts(_ end: ModelEnd, _ annotation: inout ModelAnnotation) {
        let relationship = end.relationship
        let declared = relationship.minimumCount ?? 0
        if !relationship.isOptional {
            annotation.minimumCount = max(1, declared)
        } else if declared > 1 {
            annotation.minimumCount = declared
            report(.changed, subject(end), "it is optional, but at least \(declared) also where there would be none")
        }
        annotation.maximumCount = relationship.maximumCount
        if let minimum = annotation.minimumCount, let maximum = annotation.maximumCount, minimum > maximum {
            report(
                .omitted, subject(end), "its largest number \(maximum) is smaller than its smallest number \(minimum)")
            annotation.maximumCount = nil
        }
    }

    /// Adds a column for the place of each object in an ordered relationship.
    mutating func addPosition(_ end: ModelEnd, _ table: Int) -> String {
        let column = keyNames[table].take("\(name(of: end) ?? end.relationship.name)_position")
        plan.tables[table].columns.append(
            ColumnPlan(
                name: column,
                origin: .position(entity: nodes[end.node].entity.name, name: end.relationship.name), type: "integer"))
        return column
    }

    /// Ties a sub-entity's table to its parent's table, which inference reads as a one-to-one relationship.
    mutating func linkToParent(_ node: Int) {
        guard let parent = nodes[node].parent else { return }
        let (table, target) = (nodes[node].table, nodes[parent].table)
        var annotation = ModelAnnotation()
        annotation.rules["toOneDeleteRule"] = "cascade"
        let name = keyNames[table].take(nodes[parent].entity.name)
        let inverse = keyNames[target].take(nodes[node].entity.name)
        let constraint = annotation.constraint(
            holder: name, target: inverse, column: keyColumns[table], plan.tables[table].name, &constraintNames[table])
        plan.tables[table].foreignKeys.append(
            ForeignKeyPlan(
                name: constraint, column: keyColumns[table], target: target, targetColumn: keyColumns[target],
                onDelete: "CASCADE", comment: annotation.comment(nil)))
    }
}

extension CoreDataModel.Relationship.DeleteRule {
    /// The rule as annotations write it.
    var annotated: String {
        switch self {
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        case .noAction: "noAction"
        }
    }
}
