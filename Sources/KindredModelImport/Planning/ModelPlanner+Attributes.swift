import KindredPostgres

extension ModelPlanner {
    /// The type of an attribute's column; nil, reported, where there is none.
    mutating func sqlType(
        of attribute: CoreDataModel.Attribute, _ subject: String
    ) -> (mapping: AttributeMapping, sql: String)? {
        guard let mapping = AttributeMapping(attribute.type) else {
            report(.omitted, subject, "its type \"\(attribute.type)\" has no counterpart in a database")
            return nil
        }
        switch mapping.kind {
        case .composite:
            guard let name = attribute.composite else {
                report(.omitted, subject, "it does not say which composite it is")
                return nil
            }
            guard let type = compositeTypes[name] else {
                report(.omitted, subject, "its composite \(name) is not in the model, or could not be made")
                return nil
            }
            return (mapping, type)
        case .transformable:
            let name = attribute.transformer.map { " that \($0) makes" } ?? ""
            report(
                .changed, subject, "the column holds the bytes\(name); the database and Kindred do not look into them")
        case .uri: report(.changed, subject, "a URI is text, whose form nothing checks")
        default: break
        }
        return (mapping, mapping.kind.type)
    }

    // MARK: Attributes

    mutating func makeAttributes() throws {
        for node in nodes.indices {
            let inherited = Set(
                line(of: node).dropFirst().flatMap { place in
                    nodes[place].entity.attributes.map(\.name) + nodes[place].entity.relationships.map(\.name)
                })
            for attribute in nodes[node].entity.attributes where attribute.isTransient || attribute.derivation == nil {
                let subject = "\(nodes[node].entity.name).\(attribute.name)"
                if attribute.isTransient {
                    report(.omitted, subject, "it is transient, so it is not stored")
                } else if inherited.contains(attribute.name) {
                    report(.omitted, subject, "it is inherited, and what the ancestor says about it holds")
                } else {
                    makeColumn(attribute, node, subject)
                }
            }
        }
        // After the columns that they are derived from.
        for node in nodes.indices {
            for attribute in nodes[node].entity.attributes {
                guard let derivation = attribute.derivation, !attribute.isTransient else { continue }
                makeDerived(attribute, derivation, node)
            }
        }
    }

    mutating func makeColumn(_ attribute: CoreDataModel.Attribute, _ node: Int, _ subject: String) {
        let table = nodes[node].table
        guard let (mapping, type) = sqlType(of: attribute, subject) else { return }
        if let known = attributesOfColumns[table]?[attribute.name], known.isSameColumn(as: attribute) {
            columns[Property(node: node, name: attribute.name)] = (table, attribute.name)
            report(.changed, subject, "it shares the column with the attribute of the same name of another entity")
            if !attribute.isOptional { addRequirement(node, attribute.name) }
            return
        }
        let name = columnName(attribute.name, node, subject)
        var column = ColumnPlan(
            name: name, origin: .attribute(entity: nodes[node].entity.name, name: attribute.name), type: type)
        column.isRequired = !attribute.isOptional && isWhole(node)
        if let text = attribute.defaultValue {
            if let value = mapping.value(text) {
                column.fill = .value(value)
            } else if let number = mapping.numberOfBoolean(text) {
                column.fill = .value(number.value)
                report(
                    .changed, subject,
                    "its default \"\(text)\" is one of type Boolean, as the attribute may once have been: it is \(number.digit)"
                )
            } else {
                report(.omitted, subject, "its default \"\(text)\" is no value of type \(attribute.type)")
            }
        }
        column.comment = Self.comment(attribute.userInfo)
        add(column, to: table, for: attribute, node)
        if !attribute.isOptional, !isWhole(node) { addRequirement(node, name) }
        addLimits(of: attribute, mapping, table, name, subject)
        if attribute.isExternal {
            report(.changed, subject, "large values stay in the row, where PostgreSQL keeps them apart and compressed")
        }
    }

    mutating func add(_ column: ColumnPlan, to table: Int, for attribute: CoreDataModel.Attribute, _ node: Int) {
        plan.tables[table].columns.append(column)
        columns[Property(node: node, name: attribute.name)] = (table, column.name)
        attributesOfColumns[table, default: [:]][column.name] = attribute
    }

    /// The column's name: the attribute's own, unless another entity with the same table has it or it is too long.
    mutating func columnName(_ wanted: String, _ node: Int, _ subject: String) -> String {
        let table = nodes[node].table
        if wanted.utf8.count <= SQLIdentifier.maximumBytes,
            !plan.tables[table].columns.contains(where: { $0.name == wanted })
        {
            return wanted
        }
        let isTooLong = wanted.utf8.count > SQLIdentifier.maximumBytes
        let name = keyNames[table].take(isTooLong ? wanted : "\(nodes[node].entity.name)_\(wanted)")
        report(
            .changed, subject,
            isTooLong
                ? "its column is called \(name), as names have 63 bytes"
                : "its column is called \(name), as another entity with the same table has an attribute of this name")
        return name
    }
}

extension CoreDataModel.Attribute {
    /// Whether both fit one column: all is equal except their names in other versions and whether they are required.
    fileprivate func isSameColumn(as other: Self) -> Bool {
        func plain(_ attribute: Self) -> Self {
            var copy = attribute
            copy.isOptional = true
            copy.identity = .init()
            copy.userInfo = []
            return copy
        }
        return plain(self) == plain(other)
    }
}
