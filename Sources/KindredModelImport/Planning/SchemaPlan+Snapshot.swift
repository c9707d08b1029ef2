import KindredDDL
import KindredPostgres

extension SchemaPlan {
    /// The plan as a snapshot, as if it had been read from a database that has nothing else.
    func snapshot() throws -> SchemaSnapshot {
        var snapshot = SchemaSnapshot()
        let names = types.map { ItemName(kind: .type, schema: schema, name: $0.name) }
        let types = Dictionary(zip(try names.map(DDL.path), names)) { first, _ in first }
        for (type, name) in zip(self.types, names) {
            snapshot.items[name] = SchemaItem(
                content: .composite(type.fields.map { Field(name: $0.name, type: $0.type) }),
                dependencies: Set(type.fields.compactMap { types[$0.type] }))
        }
        for table in tables {
            snapshot.items[name(of: table)] = SchemaItem(
                content: .table(TableItem(isUnlogged: false, options: [], parents: [])), comment: table.comment)
            for (position, column) in table.columns.enumerated() {
                snapshot.items[part(.column, column.name, of: table)] = SchemaItem(
                    content: .column(try column.item()), comment: column.comment, position: position,
                    dependencies: columns(column.sources, of: table).union(types[column.type].map { [$0] } ?? []))
            }
            for constraint in table.constraints {
                snapshot.items[part(.constraint, constraint.name, of: table)] = SchemaItem(
                    content: .constraint(try constraint.item()),
                    dependencies: columns(constraint.definition.columns, of: table))
            }
            for key in table.foreignKeys { try add(key, of: table, to: &snapshot) }
            for index in table.indexes { try add(index, of: table, to: &snapshot) }
        }
        return snapshot.indexed()
    }

    func name(of table: TablePlan) -> ItemName { ItemName(kind: .table, schema: schema, name: table.name) }

    func part(_ kind: ItemName.Kind, _ part: String, of table: TablePlan) -> ItemName {
        ItemName(kind: kind, schema: schema, name: table.name, part: part)
    }

    /// The names of a table and some of its columns, as dependencies.
    private func columns(_ names: [String], of table: TablePlan) -> Set<ItemName> {
        Set(names.map { part(.column, $0, of: table) }).union([name(of: table)])
    }

    private func add(_ key: ForeignKeyPlan, of table: TablePlan, to snapshot: inout SchemaSnapshot) throws {
        let target = tables[key.target]
        let action = key.onDelete == "NO ACTION" ? "" : " ON DELETE \(key.onDelete)"
        let deferral = key.isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : ""
        let definition =
            "FOREIGN KEY (\(try DDL.name(key.column))) REFERENCES \(try DDL.path(name(of: target)))"
            + "(\(try DDL.name(key.targetColumn)))\(action)\(deferral)"
        let primaryKey = target.constraints.filter(\.isPrimaryKey).map { part(.constraint, $0.name, of: target) }
        snapshot.items[part(.constraint, key.name, of: table)] = SchemaItem(
            content: .constraint(
                ConstraintItem(
                    kind: .foreignKey, definition: definition, isValid: true, deferral: deferral, isOfDomain: false)),
            comment: key.comment,
            dependencies: columns([key.column], of: table).union(columns([key.targetColumn], of: target))
                .union(primaryKey))
    }

    private func add(_ index: IndexPlan, of table: TablePlan, to snapshot: inout SchemaSnapshot) throws {
        let place = " ON \(try DDL.path(name(of: table))) \(try index.definition.sql())"
        let start = "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(try DDL.name(index.name))"
        snapshot.items[ItemName(kind: .index, schema: schema, name: index.name)] = SchemaItem(
            content: .index(
                IndexItem(
                    unnamed: "\(index.isUnique)\(place)", definition: start + place, isValid: true,
                    relation: name(of: table))),
            dependencies: columns(index.definition.columns, of: table))
    }
}

extension ColumnPlan {
    func item() throws -> ColumnItem {
        var item = ColumnItem(
            type: type, isNotNull: isRequired, identityOptions: [], base: type, isText: type == "text")
        switch fill {
        case .nothing: break
        case .value(let value): item.defaultText = value
        case .identity:
            item.identity = .byDefault
            item.identityOptions = ColumnItem.usualIdentityOptions(of: type)
        case .generated(let expression): item.generation = try expression.sql()
        }
        return item
    }
}

extension ConstraintPlan {
    fileprivate func item() throws -> ConstraintItem {
        let definition = try definition.sql()
        let kind: ConstraintItem.Kind = isPrimaryKey ? .primaryKey : hasIndex ? .unique : .check
        return ConstraintItem(
            kind: kind, definition: definition, isValid: true,
            deferral: hasIndex && definition.hasSuffix(" DEFERRABLE") ? " DEFERRABLE" : "", isOfDomain: false)
    }
}
