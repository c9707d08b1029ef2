import KindredPostgres

extension ModelPlanner {
    mutating func makeHelper(_ left: ModelEnd, _ right: ModelEnd?) {
        guard let right else { return }
        let isSymmetric = left == right
        let (first, second) = subject(left) <= subject(right) ? (left, right) : (right, left)
        guard let firstName = name(of: first), var secondName = name(of: second) else { return }
        let (firstTable, secondTable) = (nodes[first.node].table, nodes[second.node].table)
        if isSymmetric {
            secondName = keyNames[secondTable].take("\(firstName)_inverse")
            report(
                .changed, subject(first),
                "it is its own inverse, which rows of a helper table cannot be: what has an object among its \(firstName) is "
                    + "its \(secondName)")
        }
        let tableName = relationNames.take("\(nodes[first.node].entity.name)_\(firstName)")
        var table = TablePlan(
            name: tableName,
            origin: .helper(entity: nodes[first.node].entity.name, relationship: first.relationship.name))
        let place = plan.tables.count
        // In a table of pairs of one entity the other end's name says whose column it is.
        let isSelf = firstTable == secondTable
        var names = NameSupply()
        let firstColumn = names.take(isSelf ? "\(secondName)_id" : "\(plan.tables[firstTable].name)_id")
        let secondColumn = names.take(isSelf ? "\(firstName)_id" : "\(plan.tables[secondTable].name)_id")
        for (column, end) in [(firstColumn, first), (secondColumn, second)] {
            table.columns.append(
                ColumnPlan(
                    name: column,
                    origin: .reference(
                        entity: nodes[end.node].entity.name,
                        name: end.relationship.name + (isSymmetric && column == secondColumn ? "_inverse" : "")),
                    type: "bigint", isRequired: true))
        }
        let key = relationNames.take("\(tableName)_pkey")
        table.constraints.append(
            ConstraintPlan(
                name: key, definition: "PRIMARY KEY (" + .list([firstColumn, secondColumn]) + ")", hasIndex: true,
                isPrimaryKey: true))
        plan.tables.append(table)
        var supply = NameSupply()
        supply.reserve(key)
        constraintNames.append(supply)
        keyNames.append(names)
        keyColumns.append(firstColumn)
        discriminators.append(nil)
        addHelperKey(first, firstName, firstColumn, place, isReverse: false)
        addHelperKey(second, secondName, secondColumn, place, isReverse: isSymmetric)
        addIndex(place, [secondColumn])
    }

    /// Adds one key of a helper table: it bears the name of the relationship of the entity that it refers to.
    mutating func addHelperKey(
        _ end: ModelEnd, _ name: String, _ column: String, _ table: Int, isReverse: Bool
    ) {
        let target = nodes[end.node].table
        var annotation = ModelAnnotation()
        let constraint = annotation.helperConstraint(name, column, plan.tables[table].name, &constraintNames[table])
        let action: String
        switch end.relationship.deleteRule {
        case .nullify: action = "CASCADE"
        case .cascade:
            action = "CASCADE"
            annotation.rules["manyToManyDeleteRule"] = "cascade"
        case .deny: action = "RESTRICT"
        case .noAction:
            action = "NO ACTION"
            annotation.rules["manyToManyDeleteRule"] = "noAction"
            report(
                .changed, subject(end),
                "where Core Data would leave references that lead nowhere, the database refuses the deletion")
        }
        if !isReverse {
            addCounts(end, &annotation)
            if end.relationship.isOrdered {
                let position = addPosition(end, table)
                annotation.orderedBy = position
                addUnique(table, [column, position], isDeferrable: true)
            }
        }
        plan.tables[table].foreignKeys.append(
            ForeignKeyPlan(
                name: constraint, column: column, target: target, targetColumn: keyColumns[target], onDelete: action,
                comment: annotation.comment(isReverse ? nil : Self.comment(end.relationship.userInfo))))
    }
}
