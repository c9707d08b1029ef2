import KindredPostgres

extension SchemaBuilder {
    /// A foreign key that makes a relationship, with its duplicates.
    final class ForeignKey {
        /// The constraints' names, sorted; the first one represents all.
        var names: [String]
        /// The index of the table that holds the key.
        let source: Int
        /// The index of the referenced table.
        let destination: Int
        let columns: [Int16]
        /// One for each of `columns`.
        let destinationColumns: [Int16]
        /// The names of both.
        let columnNames: [String]
        let destinationColumnNames: [String]
        /// How each of `columns` is compared; empty where all are by the equality of their types.
        let comparisons: [KeyComparison?]
        var deleteRule: DeleteRule
        /// The database's action when a row is deleted; none if duplicates differ.
        var action: DatabaseAction
        /// Its action when the referenced values change, likewise.
        var updateAction: DatabaseAction
        /// The columns of ON DELETE SET NULL (...); empty for all.
        let deleteSetColumns: [Int16]
        var isMatchFull: Bool
        var isEnforced: Bool
        /// Whether a value may have no row: the key is NOT ENFORCED or NOT VALID.
        var mayDangle: Bool
        var checkTime: CheckTime
        /// Whether at most one row can refer to another.
        var isOneToOne = false
        var annotation = KeyAnnotation()
        /// Whether the table that it refers to has another owner.
        let isOfOtherOwner: Bool
        /// The base of the key's own column, which names the relationship; nil if there is none.
        var base: String?

        init(
            _ row: Catalog.Constraint, source: (place: Int, table: Table), destination: (place: Int, table: Table),
            _ types: TypeResolver
        ) {
            names = [row.name]
            self.source = source.place
            self.destination = destination.place
            columns = row.columns
            destinationColumns = row.targetColumns
            columnNames = source.table.columnNames(row.columns)
            destinationColumnNames = destination.table.columnNames(row.targetColumns)
            let comparisons = row.columns.indices.map { place -> KeyComparison? in
                guard row.targetColumns.indices.contains(place),
                    let own = source.table.attribute(row.columns[place]),
                    let referenced = destination.table.attribute(row.targetColumns[place])
                else { return nil }
                let operation = row.operators.indices.contains(place) ? types.operation(row.operators[place]) : nil
                return own.comparison(with: referenced, by: operation)
            }
            self.comparisons = comparisons.allSatisfy { $0 == nil } ? [] : comparisons
            deleteRule = DeleteRule(action: row.deleteAction)
            action = DatabaseAction(row.deleteAction)
            updateAction = DatabaseAction(row.updateAction)
            deleteSetColumns = row.deleteSetColumns
            isOfOtherOwner = row.isOfOtherOwner
            isMatchFull = row.isMatchFull
            isEnforced = row.isEnforced
            mayDangle = !row.isEnforced || !row.isValidated
            let name = source.table.name.sibling(row.name)
            checkTime = !row.isDeferrable ? .statement : row.canBeDeferred ? .choice([name]) : .transaction
        }

        /// Merges a constraint that compares the same columns.
        func add(_ other: ForeignKey) {
            names += other.names
            deleteRule = DeleteRule.strictest(deleteRule, other.deleteRule)
            if action != other.action { action = .noAction }
            if updateAction != other.updateAction { updateAction = .noAction }
            isMatchFull = isMatchFull || other.isMatchFull
            isEnforced = isEnforced || other.isEnforced
            mayDangle = mayDangle && other.mayDangle
            checkTime = checkTime.joined(with: other.checkTime)
        }

        /// Sets the base of the key's own column.
        ///
        /// - Parameters:
        ///   - others: The columns of the other foreign keys of the table.
        ///   - primaryKey: The columns of the table's primary key.
        ///   - target: The name of the table that the key refers to.
        func settleBase(others: [[Int16]], primaryKey: [Int16], target: String) {
            guard let place = ownColumn(others, primaryKey) else { return }
            base = ColumnBase.base(of: columnNames[place], referencing: destinationColumnNames[place], of: target)
        }

        /// The index of the key's own column: the only column of a composite key that it does not share with other
        /// keys, as it shares a tenant's column; nil if not exactly one column is its own.
        private func ownColumn(_ others: [[Int16]], _ primaryKey: [Int16]) -> Int? {
            if columns.count == 1 { return 0 }
            var left = columns.indices.filter { place in !others.contains { $0.contains(columns[place]) } }
            if left.count > 1 { left.removeAll { primaryKey.contains(columns[$0]) } }
            return left.count == 1 ? left[0] : nil
        }

        var name: String {
            names.first ?? ""
        }

        /// The tables of both sides.
        var holder: Side { Side(table: source, columns: columns) }
        var target: Side { Side(table: destination, columns: destinationColumns) }

        var isSelfReference: Bool {
            source == destination
        }

        /// Whether the other one compares the same columns of the same tables.
        func repeats(_ other: ForeignKey) -> Bool {
            guard destination == other.destination, columns.count == other.columns.count else { return false }
            if columns == other.columns { return destinationColumns == other.destinationColumns }
            let pairs = Set(zip(columns, destinationColumns).map { [$0, $1] })
            return zip(other.columns, other.destinationColumns).allSatisfy { pairs.contains([$0, $1]) }
        }
    }
}

extension DatabaseAction {
    /// The action that `confdeltype` or `confupdtype` stands for.
    init(_ action: UInt8) {
        switch action {
        case UInt8(ascii: "c"): self = .cascade
        case UInt8(ascii: "n"): self = .setNull
        case UInt8(ascii: "d"): self = .setDefault
        default: self = .noAction
        }
    }
}

extension DeleteRule {
    /// The delete rule of a foreign key's action, as in `confdeltype`.
    fileprivate init(action: UInt8) {
        switch action {
        case UInt8(ascii: "c"): self = .cascade
        case UInt8(ascii: "n"), UInt8(ascii: "d"): self = .nullify
        case UInt8(ascii: "r"): self = .deny
        default: self = .noAction
        }
    }

    /// The stronger rule of two keys: RESTRICT wins over all other rules, NO ACTION over none.
    fileprivate static func strictest(_ left: DeleteRule, _ right: DeleteRule) -> DeleteRule {
        let order: [DeleteRule] = [.deny, .cascade, .nullify, .noAction]
        return order.first { $0 == left || $0 == right } ?? left
    }
}
