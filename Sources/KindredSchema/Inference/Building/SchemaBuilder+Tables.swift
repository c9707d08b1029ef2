import KindredPostgres

extension SchemaBuilder {
    /// Collects the relations, sorted by name, without partitions.
    func makeTables() {
        tables.reserveCapacity(catalog.relations.count)
        for relation in catalog.relations {
            let name = QualifiedName(catalog: relation.schema, relation.name)
            if relation.isPartition {
                otherNames[relation.oid] = name
                hidden[name] = .partition
            } else if annotations.tables[relation.oid]?.options.ignore == true {
                hidden[name] = .ignored
                if let kind = Entity.Kind(relkind: relation.kind) {
                    tables.append(Table(relation, kind: kind, isIgnored: true))
                }
            } else if let kind = Entity.Kind(relkind: relation.kind) {
                tables.append(Table(relation, kind: kind))
            }
        }
        tables.sort { $0.name < $1.name }
        tableIndexes.reserveCapacity(tables.count)
        for index in tables.indices { tableIndexes[tables[index].relation.oid] = index }
    }

    /// Assigns the columns to their tables, and makes attributes from them.
    func makeColumns() {
        // The server mostly returns a table's columns together: then one look-up serves all.
        var last: (oid: UInt32, table: Table?) = (0, nil)
        for column in catalog.columns {
            if column.relation != last.oid {
                last = (column.relation, tableIndexes[column.relation].map { tables[$0] })
            }
            last.table?.columns.append(column)
        }
        var elementChecks: [UInt32: [Int16: [String]]] = [:]
        for constraint in catalog.constraints where constraint.kind == .check && constraint.isEnforced {
            guard let check = constraint.elementCheck, let column = constraint.columns.first else { continue }
            elementChecks[constraint.relation, default: [:]][column, default: []].append(check)
        }
        for index in tables.indices {
            let oid = tables[index].relation.oid
            if !tables[index].columns.isSortedByNumber {
                tables[index].columns.sort { $0.number < $1.number }
            }
            for (number, annotation) in annotations.columns[oid] ?? [:] where annotation.options.ignore == true {
                tables[index].ignoredColumns.insert(number)
            }
            let (comments, options) = (annotations.columnComments[oid], annotations.columns[oid])
            let checks = elementChecks[oid]
            tables[index].attributes = tables[index].columns.map { column in
                types.attribute(
                    column, comment: comments?[column.number], isStored: tables[index].kind.storesRows,
                    options: options?[column.number]?.options, elementChecks: checks?[column.number] ?? [])
            }
            tables[index].attributeIndexes = Entity.indexes(of: tables[index].attributes)
            if tables[index].isIgnored { continue }
            let relation = tables[index].relation
            let isReadable = relation.isReadable || tables[index].columns.contains { $0.isGranted }
            tables[index].isVisible = relation.isReachable && isReadable
            if !tables[index].isVisible { hidden[tables[index].name] = .unreadable(role: catalog.role) }
        }
    }

    /// Collects the primary keys, UNIQUE constraints, and indexes that prove uniqueness.
    func makeUniqueKeys() {
        for constraint in catalog.constraints where constraint.kind != .foreignKey {
            guard let index = tableIndexes[constraint.relation] else { continue }
            if constraint.kind == .check {
                // If the constraint has several columns, nothing tells which column is wrong.
                guard constraint.columns.count == 1 else { continue }
                tables[index].checkedColumns[constraint.name] = tables[index].columnNames(constraint.columns).first
                    .map { ServerText($0) }
                continue
            }
            if constraint.isDeferrable { tables[index].hasDeferrableKeys = true }
            if constraint.canBeDeferred {
                tables[index].deferrableConstraints.append(
                    DeferrableConstraint(
                        name: tables[index].name.sibling(constraint.name),
                        columns: constraint.columns.contains(0) ? [] : tables[index].columnNames(constraint.columns)))
            }
            if constraint.kind == .exclusion { continue }
            if !constraint.isDeferrable {
                tables[index].immediatelyUnique.formUnion(constraint.columns)
                if !constraint.hasPeriod { tables[index].addUniqueCheck(constraint.columns) }
            }
            tables[index].uniqueKeys.append(
                UniqueKey(
                    name: constraint.name,
                    origin: constraint.kind == .primaryKey ? .primaryKey : .constraint,
                    columns: constraint.columns.sorted(),
                    orderedColumns: constraint.columns,
                    hasPeriod: constraint.hasPeriod,
                    isDeferrable: constraint.isDeferrable
                )
            )
        }
        for row in catalog.indexes where row.isUnique && row.isValid && !row.hasExpressions {
            guard let index = tableIndexes[row.relation] else { continue }
            let columns = Array(row.columns.prefix(row.keyCount))
            if !row.isDeferrable { tables[index].immediatelyUnique.formUnion(columns) }
            guard !columns.contains(0), !columns.isEmpty else { continue }
            if !row.isDeferrable {
                tables[index].addUniqueCheck(columns, areNullsDistinct: row.hasDistinctNulls, predicate: row.predicate)
            }
            if let predicate = row.predicate {
                if !row.isDeferrable { tables[index].addPartialKey(columns, predicate: predicate) }
                let own = tables[index].columnNames(columns)
                guard let required = RowPredicate(predicate).notNullColumns, required.allSatisfy(own.contains)
                else { continue }
            }
            tables[index].uniqueKeys.append(
                UniqueKey(
                    name: row.name,
                    origin: .index,
                    columns: columns.sorted(),
                    orderedColumns: columns,
                    isDeferrable: row.isDeferrable,
                    isPartial: row.predicate != nil,
                    hasColumnsEquality: row.hasColumnsEquality,
                    isReplicaIdentity: row.isReplicaIdentity
                )
            )
        }
        for elements in Dictionary(grouping: catalog.serverChecks, by: \.index).sorted(by: { $0.key < $1.key }) {
            guard let relation = elements.value.first?.relation, let index = tableIndexes[relation] else { continue }
            tables[index].addServerCheck(elements.value)
        }
        for table in tables { table.sortUniqueChecks() }
        for index in tables.indices where tables[index].uniqueKeys.count > 1 {
            tables[index].uniqueKeys.sort {
                if $0.origin != $1.origin { return $0.origin.rawValue < $1.origin.rawValue }
                if $0.columns != $1.columns { return $0.columns.lexicographicallyPrecedes($1.columns) }
                return $0.name < $1.name
            }
        }
    }

    /// Finds the key that identifies each entity's objects.
    func makeIdentities() {
        for index in tables.indices {
            let declared = tables[index].isIgnored ? nil : declaredKey(of: index)
            tables[index].identity = declared ?? constraintKey(of: index)
        }
        makeViewKeys()
        for index in tables.indices {
            let table = tables[index]
            for number in table.ignoredColumns where !table.isIgnored && table.identity.contains(number) {
                let location = annotations.columns[table.relation.oid]?[number]?.location ?? ""
                report("a column of the key cannot be ignored", of: index, at: location)
            }
            if !table.shows(table.identity) || !table.tellsTables { tables[index].identity = [] }
        }
    }

    /// The key that an annotation names.
    private func declaredKey(of index: Int) -> [Int16]? {
        guard let written = annotations.tables[tables[index].relation.oid], let names = written.options.key
        else { return nil }
        var numbers: [Int16] = []
        for name in names {
            guard let number = tables[index].number(ofColumn: name) else {
                report("\"key\" names no column: there is no \"\(name)\"", of: index, at: written.location)
                continue
            }
            if numbers.contains(number) {
                report("\"key\" names \"\(name)\" twice", of: index, at: written.location)
            }
            numbers.append(number)
        }
        return numbers
    }

    /// The UNIQUE constraints and unique indexes that identify a table's objects.
    ///
    /// An index is no key if an annotation gives one of its columns a part that a column of a key cannot have.
    func identifyingKeys(of index: Int) -> [UniqueKey] {
        let table = tables[index]
        let written = annotations.columns[table.relation.oid] ?? [:]
        let softDelete = annotations.tables[table.relation.oid]?.options.softDelete
        return table.identifyingKeys.filter { key in
            key.origin != .index
                || key.columns.allSatisfy { number in
                    let options = written[number]?.options
                    return options?.ignore != true && options?.version != true
                        && (softDelete == nil || table.column(number)?.name != softDelete)
                }
        }
    }

    /// The primary key; without one, the key that is preferred; without it, the best of the table's other keys: the replica
    /// identity, else a constraint, then the one over the fewest columns, then the first by name.
    private func constraintKey(of index: Int) -> [Int16] {
        let table = tables[index]
        if let primaryKey = table.primaryKey { return primaryKey.orderedColumns }
        let keys = identifyingKeys(of: index)
        let preferred = annotations.preferredKeys[table.relation.oid]?.map { table.number(ofColumn: $0) ?? 0 }
        if let preferred, keys.contains(where: { $0.columns == preferred.sorted() }) { return preferred }
        let best = keys.min {
            if $0.isReplicaIdentity != $1.isReplicaIdentity { return $0.isReplicaIdentity }
            if $0.origin != $1.origin { return $0.origin.rawValue < $1.origin.rawValue }
            if $0.columns.count != $1.columns.count { return $0.columns.count < $1.columns.count }
            return $0.name < $1.name
        }
        return best?.orderedColumns ?? []
    }
}

extension Entity.Kind {
    /// Whether it stores rows, which satisfy their columns' domains; an outer join's rows may not.
    fileprivate var storesRows: Bool { self != .view && self != .materializedView }

    /// The kind that a value of `relkind` stands for; nil for indexes, sequences and the like.
    fileprivate init?(relkind: UInt8) {
        switch relkind {
        case UInt8(ascii: "r"): self = .table
        case UInt8(ascii: "p"): self = .partitionedTable
        case UInt8(ascii: "v"): self = .view
        case UInt8(ascii: "m"): self = .materializedView
        case UInt8(ascii: "f"): self = .foreignTable
        default: return nil
        }
    }
}

extension [Catalog.Column] {
    fileprivate var isSortedByNumber: Bool {
        zip(self, dropFirst()).allSatisfy { $0.number < $1.number }
    }
}
