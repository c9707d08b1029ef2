import KindredPostgres

extension SchemaBuilder {
    /// The columns of one table that a view shows unchanged; each row of the view shows one row of the table.
    struct ShownTable {
        /// The table's index.
        let table: Int
        /// The view's columns by the table's.
        let columns: [Int16: Int16]
    }

    /// The largest number of relationships by views that a foreign key or helper makes without annotations.
    private static let largestCount = 100

    /// Makes both ends of the relationships between views, and between views and tables.
    ///
    /// A view stands for a table if it shows all columns of one of the table's foreign keys, or if its key consists of
    /// the columns that a foreign key refers to.
    func makeViewEnds() {
        let views = findShownTables()
        for index in tables.indices where !tables[index].isView {
            guard let written = annotations.tables[tables[index].relation.oid], written.options.relationships != nil
            else { continue }
            report("\"relationships\" is for views", of: index, at: written.location)
        }
        if views.isEmpty { return }
        for (place, key) in keys.enumerated() {
            let holders = (views[key.source] ?? []).compactMap { side($0, showing: key.columns, of: key.source) }
            let targets = targetViews(key, views)
            for (holder, target) in pairs((key.holder, holders), (key.target, targets), by: [key], of: key.source) {
                ends.append(RelationshipEnd(role: .holder(place), from: holder, to: target))
                ends.append(RelationshipEnd(role: .target(place), from: target, to: holder))
            }
        }
        for (place, helper) in helpers.enumerated() {
            let (first, second) = (keys[helper.first], keys[helper.second])
            let (near, far) = (targetViews(first, views), targetViews(second, views))
            for (left, right) in pairs(
                (first.target, near), (second.target, far), by: [first, second], of: helper.table)
            {
                ends.append(RelationshipEnd(role: .helper(place, isFirst: true), from: left, to: right))
                ends.append(RelationshipEnd(role: .helper(place, isFirst: false), from: right, to: left))
            }
        }
    }

    /// The view's columns that show the given columns of a table, from the same row; nil if a column is not shown.
    func columns(of view: Int, showing columns: [Int16], of table: Int) -> [Int16]? {
        for shown in shownTables[view] ?? [] where shown.table == table {
            let found = columns.compactMap { shown.columns[$0] }
            if found.count == columns.count, !found.contains(where: tables[view].ignoredColumns.contains) {
                return found
            }
        }
        return nil
    }

    private func side(_ view: Int, showing columns: [Int16], of table: Int) -> Side? {
        self.columns(of: view, showing: columns, of: table).map { Side(table: view, columns: $0, isView: true) }
    }

    /// The views whose key a foreign key refers to.
    private func targetViews(_ key: ForeignKey, _ views: [Int: [Int]]) -> [Side] {
        (views[key.destination] ?? []).compactMap { view in
            guard let side = side(view, showing: key.destinationColumns, of: key.destination),
                Set(side.columns) == Set(tables[view].identity)
            else { return nil }
            return side
        }
    }

    /// All pairs of two sides except the two tables; only with annotated views, if there are too many.
    private func pairs(
        _ left: (table: Side, views: [Side]), _ right: (table: Side, views: [Side]), by keys: [ForeignKey],
        of table: Int
    ) -> [(Side, Side)] {
        var (leftViews, rightViews) = (left.views, right.views)
        let count = (leftViews.count + 1) * (rightViews.count + 1) - 1
        if count > Self.largestCount {
            leftViews.removeAll { choice(of: $0.table) != true }
            rightViews.removeAll { choice(of: $0.table) != true }
            let names = keys.flatMap(\.names).sorted()
            diagnostics.append(
                SchemaDiagnostic(
                    .manyViews,
                    entity: tables[table].name,
                    constraints: names,
                    message: "Views would give \(count) relationships by \(names.joined(separator: ", ")) of "
                        + "\(tables[table].name), more than \(Self.largestCount): only those count whose comment says "
                        + "@kindred {\"relationships\": true}"
                )
            )
        }
        return ([left.table] + leftViews).flatMap { left in
            ([right.table] + rightViews).compactMap { right in left.isView || right.isView ? (left, right) : nil }
        }
    }

    /// The annotated choice for a view's relationships.
    private func choice(of view: Int) -> Bool? {
        annotations.tables[tables[view].relation.oid]?.options.relationships
    }

    /// Finds the tables that each view shows; returns, by table, the views that show a column of it.
    private func findShownTables() -> [Int: [Int]] {
        var origins: [Int: Catalog.ViewOrigins] = [:]
        for row in catalog.viewOrigins {
            if let view = tableIndexes[row.view] { origins[view] = row }
        }
        var views: [Int: [Int]] = [:]
        for view in origins.keys.sorted() {
            findShownTables(of: view, origins)
            if tables[view].isIgnored || choice(of: view) == false { continue }
            for table in Set((shownTables[view] ?? []).map(\.table)) { views[table, default: []].append(view) }
        }
        return views
    }

    private func findShownTables(of view: Int, _ origins: [Int: Catalog.ViewOrigins]) {
        guard let row = origins[view], shownTables[view] == nil else { return }
        // No view can show itself, but damaged catalog rows must not loop.
        shownTables[view] = []
        var groups: [(relation: Int, columns: [Int16: Int16])] = []
        var groupOf: [Int: Int] = [:]
        for column in tables[view].columns {
            guard let origin = row.columns[column.number], let relation = tableIndexes[origin.relation] else {
                continue
            }
            if row.repeated.contains(origin.relation) {
                groups.append((relation, [origin.column: column.number]))
            } else if let group = groupOf[relation] {
                // The first of two columns that show the same one counts.
                if groups[group].columns[origin.column] == nil { groups[group].columns[origin.column] = column.number }
            } else {
                groupOf[relation] = groups.count
                groups.append((relation, [origin.column: column.number]))
            }
        }
        var found: [ShownTable] = []
        for (relation, columns) in groups {
            if !tables[relation].isView {
                found.append(ShownTable(table: relation, columns: columns))
                continue
            }
            findShownTables(of: relation, origins)
            for below in shownTables[relation] ?? [] {
                let shown = below.columns.compactMapValues { columns[$0] }
                if !shown.isEmpty { found.append(ShownTable(table: below.table, columns: shown)) }
            }
        }
        shownTables[view] = found
    }
}
