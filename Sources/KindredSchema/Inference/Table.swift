import KindredPostgres

extension SchemaBuilder {
    /// A relation at work: what its rows in the catalog say, and what was inferred so far.
    final class Table {
        let relation: Catalog.Relation
        let name: QualifiedName
        let kind: Entity.Kind
        /// Whether an annotation leaves it out: then it is here only for the views that show its rows.
        let isIgnored: Bool
        /// All columns, also those that the role may not read, sorted by number.
        var columns: [Catalog.Column] = []
        /// One for each of `columns`.
        var attributes: [Attribute] = []
        /// The places of both by name.
        var attributeIndexes: [String: Int] = [:]
        /// The primary key first, then by name; those of plain indexes last.
        var uniqueKeys: [UniqueKey] = []
        /// The numbers of columns whose unique keys are checked row by row, so that an UPDATE cannot exchange their values.
        var immediatelyUnique: Set<Int16> = []
        /// The numbers of the columns that identify an object; empty if there is no key.
        var identity: [Int16] = []
        /// The places of the foreign keys that this table holds.
        var foreignKeys: [Int] = []
        /// The places of the relationship ends whose source this is.
        var ends: [Int] = []
        /// Whether the role may read the relation, in full or in part.
        var isVisible = false
        /// Whether a UNIQUE or EXCLUDE constraint is looked at only when a statement or the transaction ends.
        var hasDeferrableKeys = false
        /// The UNIQUE and EXCLUDE constraints that are checked after each statement and can be deferred by their name.
        var deferrableConstraints: [DeferrableConstraint] = []
        /// The unique constraints and indexes that are checked row by row.
        private(set) var uniqueChecks: [UniqueCheck] = []
        /// The columns that an annotation leaves out.
        var ignoredColumns: Set<Int16> = []

        init(_ relation: Catalog.Relation, kind: Entity.Kind, isIgnored: Bool = false) {
            self.relation = relation
            self.kind = kind
            self.isIgnored = isIgnored
            name = QualifiedName(schema: relation.schema, name: relation.name)
        }

        /// Whether its rows are those of other relations.
        var isView: Bool { kind == .view || kind == .materializedView }

        var primaryKey: UniqueKey? {
            uniqueKeys.first { $0.origin == .primaryKey }
        }

        /// The attributes that are unique together at every moment: each set once, in the table's order.
        var uniqueAttributes: [[String]] {
            var seen: Set<[Int16]> = []
            return uniqueKeys.filter {
                !$0.hasPeriod && !$0.isDeferrable && !$0.isPartial && shows($0.columns)
                    && seen.insert($0.columns).inserted
            }.map { columnNames($0.columns) }
        }

        /// Takes a unique constraint or index down; a constraint's own index is the same check again.
        func addUniqueCheck(_ columns: [Int16], areNullsDistinct: Bool = true, predicate: String? = nil) {
            guard shows(columns) else { return }
            let names = columnNames(columns)
            let predicate = predicate.map(RowPredicate.init)
            if let known = uniqueChecks.firstIndex(where: { $0.columns == names && $0.predicate == predicate }) {
                if !areNullsDistinct { uniqueChecks[known].areNullsDistinct = false }
            } else {
                uniqueChecks.append(
                    UniqueCheck(columns: names, areNullsDistinct: areNullsDistinct, predicate: predicate))
            }
        }

        /// The same order whatever order the catalog's rows come in.
        func sortUniqueChecks() {
            func key(_ check: UniqueCheck) -> String {
                "\(check.columns) \(check.areNullsDistinct) \(check.predicate.map { "\($0)" } ?? "")"
            }
            if uniqueChecks.count > 1 { uniqueChecks.sort { key($0) < key($1) } }
            if deferrableConstraints.count > 1 { deferrableConstraints.sort { $0.name < $1.name } }
        }

        /// The place of a column in `columns`.
        func place(of number: Int16) -> Int? {
            // Without dropped columns the number is the place, from 1.
            let guess = Int(number) - 1
            if columns.indices.contains(guess), columns[guess].number == number { return guess }
            return columns.firstIndex { $0.number == number }
        }

        func column(_ number: Int16) -> Catalog.Column? {
            place(of: number).map { columns[$0] }
        }

        func columnNames(_ numbers: [Int16]) -> [String] {
            numbers.compactMap { column($0)?.name }
        }

        func number(ofColumn name: String) -> Int16? {
            attributeIndexes[name] == nil ? nil : columns.first { $0.name.hasSameBytes(as: name) }?.number
        }

        /// Whether an attribute stands for the column.
        func shows(_ column: Catalog.Column) -> Bool {
            (relation.isReadable || column.isGranted)
                && (ignoredColumns.isEmpty || !ignoredColumns.contains(column.number))
        }

        func shows(_ numbers: [Int16]) -> Bool {
            numbers.allSatisfy { number in column(number).map { shows($0) } ?? false }
        }

        /// Whether every column is an attribute of the entity.
        var showsAll: Bool {
            relation.isReadable && ignoredColumns.isEmpty
        }

        /// The attributes that the entity has.
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
        /// Whether the last column is a period, which must not overlap: several rows may have the same other columns.
        var hasPeriod = false
        /// Whether rows may break it until the transaction ends.
        var isDeferrable = false
        /// Whether it holds for some of the rows only, those that have all its columns.
        var isPartial = false
    }
}
