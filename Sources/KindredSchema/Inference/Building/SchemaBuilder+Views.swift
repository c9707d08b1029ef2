import KindredPostgres

extension SchemaBuilder {
    /// Gives each view that shows one table's rows at most once that table's key.
    ///
    /// A view's column is NOT NULL, generated or filled by default if the table's column is.
    func makeViewKeys() {
        var projections: [Int: Catalog.Projection] = [:]
        for projection in catalog.projections {
            if let view = tableIndexes[projection.view] { projections[view] = projection }
        }
        var done: Set<Int> = []
        for view in projections.keys.sorted() { makeViewKey(of: view, projections, done: &done) }
    }

    /// The obstacles to writing rows of a relation, its own and of the relations that a view shows.
    func obstacles(of index: Int) -> RowObstacles {
        guard tables[index].kind == .view else { return tables[index].relation.obstacles }
        if viewOrigins == nil {
            viewOrigins = Dictionary(catalog.viewOrigins.map { ($0.view, $0) }, uniquingKeysWith: { first, _ in first })
            relationObstacles = Dictionary(
                catalog.relations.map { ($0.oid, $0.obstacles) }, uniquingKeysWith: { first, _ in first })
        }
        var (found, seen, pending) = (RowObstacles(), Set<UInt32>(), [tables[index].relation.oid])
        while let next = pending.popLast() {
            // A view may show a partition, which is no table of its own here.
            guard seen.insert(next).inserted, let obstacles = relationObstacles[next] else { continue }
            found.formUnion(obstacles)
            pending += viewOrigins?[next]?.columns.values.map(\.relation) ?? []
        }
        return found
    }

    private func makeViewKey(of view: Int, _ projections: [Int: Catalog.Projection], done: inout Set<Int>) {
        guard done.insert(view).inserted, let projection = projections[view],
            let base = tableIndexes[projection.base]
        else { return }
        // A view may show another view.
        makeViewKey(of: base, projections, done: &done)
        var shown: [Int16: Int16] = [:]
        for column in tables[view].columns {
            guard let origin = projection.columns[column.number] else { continue }
            if shown[origin] == nil { shown[origin] = column.number }
            guard let place = tables[view].place(of: column.number),
                let basePlace = tables[base].place(of: origin)
            else { continue }
            tables[view].attributes[place] = tables[view].attributes[place].filled(
                as: tables[base].attributes[basePlace])
        }
        if tables[view].identity.isEmpty {
            var wanted = tables[base].identity
            // The key does not cover the rows of inheriting tables: only with their table does it tell rows apart.
            if tables[base].relation.hasChildren, !projection.isOnly { wanted.append(Attribute.tableNumber) }
            let key = wanted.compactMap { shown[$0] }
            if !tables[base].identity.isEmpty, key.count == wanted.count { tables[view].identity = key }
        }
    }
}

extension Attribute {
    /// The attribute, filled by the database as another attribute is.
    fileprivate func filled(as other: Attribute) -> Attribute {
        Attribute(
            name: name,
            number: number,
            typeName: sqlType,
            type: type,
            baseType: baseType,
            isNotNull: isNotNull || other.isNotNull,
            hasDefault: hasDefault || other.hasDefault,
            identity: other.identity,
            isGenerated: other.isGenerated,
            elementType: elementType,
            enumLabels: enumLabels,
            domain: domain,
            maximumLength: maximumLength,
            numericPrecision: numericPrecision,
            numericScale: numericScale,
            comment: comment,
            structure: structure,
            isReadable: !isReadAsText,
            hasLooseCollation: hasLooseCollation,
            comparedType: comparedType,
            operators: operators,
            collation: collation,
            isLazy: isLazy,
            hasRequiredElements: hasRequiredElements,
            property: property,
            takesNumbers: takesNumbers
        )
    }
}
