import KindredPostgres

extension SchemaBuilder {
    /// A relation during inference: its catalog rows, and the facts inferred so far.
    final class Table {
        let relation: Catalog.Relation
        let name: QualifiedName
        let kind: Entity.Kind
        /// Whether an annotation ignores it: then it is kept only for views that show its rows.
        let isIgnored: Bool
        /// All columns, including unreadable ones, sorted by number.
        var columns: [Catalog.Column] = []
        /// One for each of `columns`.
        var attributes: [Attribute] = []
        /// The indexes of both by name.
        var attributeIndexes: [ServerText: Int] = [:]
        /// The primary key first, then by name; keys of plain indexes last.
        var uniqueKeys: [UniqueKey] = []
        /// The numbers of columns whose unique keys are checked row by row, so that an UPDATE cannot swap their values.
        var immediatelyUnique: Set<Int16> = []
        /// The numbers of the columns that identify an object; empty if there is no key.
        var identity: [Int16] = []
        /// The indexes of the foreign keys that this table holds.
        var foreignKeys: [Int] = []
        /// The indexes of the relationship ends whose source this is.
        var ends: [Int] = []
        /// Whether the role may read the relation, in full or in part.
        var isVisible = false
        /// Whether a UNIQUE or EXCLUDE constraint is checked only when a statement or the transaction ends.
        var hasDeferrableKeys = false
        /// The UNIQUE and EXCLUDE constraints that are checked after each statement and can be deferred by name.
        var deferrableConstraints: [DeferrableConstraint] = []
        /// The column of each CHECK constraint that is about one alone, by the constraint's name.
        var checkedColumns: [ServerText: ServerText] = [:]
        /// The unique constraints and indexes that are checked row by row.
        private(set) var uniqueChecks: [UniqueCheck] = []
        /// The partial unique indexes over columns.
        private(set) var partialKeys: [PartialKey] = []
        /// The unique indexes and EXCLUDE constraints whose conflicts only the server can find.
        private(set) var serverChecks: [ServerCheck] = []
        /// The columns that an annotation ignores.
        var ignoredColumns: Set<Int16> = []

        init(_ relation: Catalog.Relation, kind: Entity.Kind, isIgnored: Bool = false) {
            self.relation = relation
            self.kind = kind
            self.isIgnored = isIgnored
            name = QualifiedName(catalog: relation.schema, relation.name)
        }

        /// Whether it shows rows of other relations.
        var isView: Bool { kind == .view || kind == .materializedView }

        var primaryKey: UniqueKey? {
            uniqueKeys.first { $0.origin == .primaryKey }
        }

        /// The UNIQUE constraints and unique indexes that identify rows: over columns that are NOT NULL, and of all rows.
        var identifyingKeys: [UniqueKey] {
            uniqueKeys.filter { key in
                key.origin != .primaryKey && !key.isPartial && key.hasColumnsEquality
                    // The index of a deferrable constraint.
                    && !(key.origin == .index && key.isDeferrable)
                    && key.columns.allSatisfy { column($0)?.isNotNull ?? false }
            }
        }

        /// The attributes that are unique together at every moment: each set once, in the table's order.
        var uniqueAttributes: [[String]] {
            var seen: Set<[Int16]> = []
            return uniqueKeys.filter {
                !$0.hasPeriod && !$0.isDeferrable && !$0.isPartial && shows($0.columns)
                    && seen.insert($0.columns).inserted
            }.map { columnNames($0.columns) }
        }

        /// Adds a unique constraint or index; a constraint's own index is a duplicate.
        func addUniqueCheck(_ columns: [Int16], areNullsDistinct: Bool = true, predicate: String? = nil) {
            guard shows(columns) else { return }
            let names = columnNames(columns)
            let predicate = predicate.map(RowPredicate.init)
            // A predicate that is not understood is among the server's checks.
            if let predicate, predicate.terms == nil { return }
            if let known = uniqueChecks.firstIndex(where: { $0.columns == names && $0.predicate == predicate }) {
                if !areNullsDistinct { uniqueChecks[known].areNullsDistinct = false }
            } else {
                uniqueChecks.append(
                    UniqueCheck(columns: names, areNullsDistinct: areNullsDistinct, predicate: predicate))
            }
        }

        /// Adds the key of a partial unique index.
        func addPartialKey(_ columns: [Int16], predicate: String) {
            guard shows(columns) else { return }
            let names = columnNames(columns)
            if partialKeys.contains(where: { $0.columns == names && $0.predicate == predicate }) { return }
            partialKeys.append(PartialKey(columns: names, predicate: predicate))
        }

        /// Adds a unique index or EXCLUDE constraint, unless a check in memory is as good.
        func addServerCheck(_ elements: [Catalog.ServerCheckElement]) {
            guard let first = elements.first else { return }
            if !first.needsServer, first.predicate.map(RowPredicate.init)?.terms != nil { return }
            let found = Set(elements.map(\.column) + elements.flatMap(\.columns)).subtracting([0])
            let numbers = found.isEmpty ? columns.map(\.number) : found.sorted()
            guard shows(numbers) else { return }
            serverChecks.append(
                ServerCheck(
                    elements: elements.map {
                        ServerCheck.Element(
                            expression: $0.expression, conflict: $0.conflict, column: column($0.column)?.name)
                    },
                    predicate: first.predicate,
                    areNullsDistinct: first.hasDistinctNulls,
                    columns: columnNames(numbers)))
        }

        /// Sorted, so that the order of the catalog's rows does not matter.
        func sortUniqueChecks() {
            func key(_ check: UniqueCheck) -> String {
                "\(check.columns) \(check.areNullsDistinct) \(check.predicate.map { "\($0)" } ?? "")"
            }
            if uniqueChecks.count > 1 { uniqueChecks.sort { key($0) < key($1) } }
            if partialKeys.count > 1 {
                partialKeys.sort { "\($0.columns) \($0.predicate)" < "\($1.columns) \($1.predicate)" }
            }
            if serverChecks.count > 1 {
                serverChecks.sort { "\($0.columns) \($0.elements)" < "\($1.columns) \($1.elements)" }
            }
            if deferrableConstraints.count > 1 { deferrableConstraints.sort { $0.name < $1.name } }
        }

        /// The index of a column in `columns`.
        func place(of number: Int16) -> Int? {
            // Without dropped columns the number, from 1, gives the index.
            let guess = Int(number) - 1
            if columns.indices.contains(guess), columns[guess].number == number { return guess }
            return columns.firstIndex { $0.number == number }
        }

        func column(_ number: Int16) -> Catalog.Column? {
            place(of: number).map { columns[$0] }
        }

        func attribute(_ number: Int16) -> Attribute? {
            place(of: number).map { attributes[$0] }
        }

        func columnNames(_ numbers: [Int16]) -> [String] {
            numbers.compactMap { number in place(of: number).map { columns[$0].name } }
        }

        func number(ofColumn name: String) -> Int16? {
            attributeIndexes[name] == nil ? nil : columns.first { $0.name == name }?.number
        }

        /// Whether the column is an attribute.
        func shows(_ column: Catalog.Column) -> Bool {
            (relation.isReadable || column.isGranted)
                && (ignoredColumns.isEmpty || !ignoredColumns.contains(column.number))
        }

        func shows(_ numbers: [Int16]) -> Bool {
            numbers.allSatisfy { number in column(number).map { shows($0) } ?? false }
        }

        /// Whether the role may read in which table a row is, if rows of inheriting tables are among them: the system column
        /// `tableoid` needs the right to read the whole table.
        var tellsTables: Bool { !relation.hasChildren || relation.isReadable }

        /// Whether every column is an attribute of the entity.
        var showsAll: Bool {
            relation.isReadable && ignoredColumns.isEmpty
        }

        /// The entity's attributes.
        var visibleAttributes: [Attribute] {
            if showsAll { return attributes }
            return columns.indices.filter { shows(columns[$0]) }.map { attributes[$0] }
        }
    }

    /// Columns that are unique together.
    struct UniqueKey {
        enum Origin: Int {
            case primaryKey
            case constraint
            case index
        }

        var name: String
        var origin: Origin
        /// Sorted.
        var columns: [Int16]
        /// In the constraint's order.
        var orderedColumns: [Int16]
        /// Whether the last column is a period that must not overlap; then the other columns may repeat.
        var hasPeriod = false
        /// Whether it is deferred until the transaction ends.
        var isDeferrable = false
        /// Whether it covers only rows without NULL in its columns.
        var isPartial = false
        /// Whether it compares values as their columns do, as a constraint does.
        var hasColumnsEquality = true
        /// Whether it is the index of `REPLICA IDENTITY USING INDEX`.
        var isReplicaIdentity = false
    }
}
