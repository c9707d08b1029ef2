import KindredPostgres

/// Decodes the results of the catalog queries.
struct CatalogDecoder {
    private(set) var catalog = Catalog()

    /// - Parameter results: The results of `CatalogQueries.all`, in its order.
    /// - Throws: ``SchemaError`` with the code `unreadableCatalog` if a result has another shape than was asked for.
    init(_ results: ArraySlice<QueryResult>) throws(SchemaError) {
        guard results.count == CatalogQueries.all.count else { throw Self.unreadable("statements") }
        var rest = results
        try decode(&rest, named: "settings", columns: 5) { $0.settings(&$1) }
        try decode(&rest, named: "relations", columns: 19) { $0.relations(&$1) }
        try decode(&rest, named: "columns", columns: 14) { $0.columns(&$1) }
        try decode(&rest, named: "constraints", columns: 19) { $0.constraints(&$1) }
        try decode(&rest, named: "keys of partitions", columns: 5) { $0.partitionKeys(&$1) }
        try decode(&rest, named: "indexes", columns: 6) { $0.indexes(&$1) }
        try decode(&rest, named: "values of indexes", columns: 9) { $0.serverChecks(&$1) }
        try decode(&rest, named: "types", columns: 12) { $0.types(&$1) }
        try decode(&rest, named: "operators", columns: 7) { $0.operators(&$1) }
        try decode(&rest, named: "enum labels", columns: 3) { $0.enumLabels(&$1) }
        try decode(&rest, named: "comments", columns: 3) { $0.comments(&$1) }
        try decode(&rest, named: "comments on constraints", columns: 4) { $0.keyComments(&$1) }
        try decode(&rest, named: "views", columns: 2) { $0.views(&$1) }
    }

    /// The column by which each distributed table's rows are spread, by the tables' OIDs.
    static func distribution(_ result: QueryResult) throws(SchemaError) -> [UInt32: String] {
        var cells = CatalogCells(result, columns: 2)
        var columns: [UInt32: String] = [:]
        if !cells.isMalformed {
            for row in result.indices { columns[cells.oid(row, 0)] = cells.string(row, 1) }
        }
        if cells.isMalformed { throw unreadable("distributed tables") }
        return columns
    }

    private static func unreadable(_ what: String) -> SchemaError {
        SchemaError(.unreadableCatalog, "The server's answer about \(what) has an unexpected shape")
    }

    private mutating func decode(
        _ rest: inout ArraySlice<QueryResult>,
        named what: String,
        columns: Int,
        _ body: (inout Self, inout CatalogCells) -> Void
    ) throws(SchemaError) {
        guard let result = rest.popFirst() else { throw Self.unreadable(what) }
        var cells = CatalogCells(result, columns: columns)
        if !cells.isMalformed { body(&self, &cells) }
        if cells.isMalformed { throw Self.unreadable(what) }
    }

    private mutating func settings(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.role = cells.string(row, 1)
            catalog.bypassesRowSecurity = cells.flag(row, 2)
            catalog.isDistributed = cells.flag(row, 4)
            // Temporary objects are in a schema of their session.
            guard let schema = cells.optionalString(row, 0), !schema.hasPrefix("pg_temp_") else { continue }
            catalog.searchPath.append(schema)
            if cells.flag(row, 3) { catalog.openSchemas.append(schema) }
        }
    }

    private mutating func relations(_ cells: inout CatalogCells) {
        catalog.relations.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            var privileges: Entity.Privileges = []
            if cells.flag(row, 7) { privileges.insert(.insert) }
            if cells.flag(row, 8) { privileges.insert(.update) }
            if cells.flag(row, 9) { privileges.insert(.delete) }
            var obstacles = RowObstacles(rawValue: cells.int16(row, 13)).intersection(.triggers)
            if cells.flag(row, 14) { obstacles.insert(.policies) }
            if cells.flag(row, 15) { obstacles.insert(.rules) }
            catalog.relations.append(
                Catalog.Relation(
                    oid: cells.oid(row, 0),
                    schema: cells.string(row, 1),
                    name: cells.string(row, 2),
                    kind: cells.letter(row, 3),
                    isPartition: cells.flag(row, 4),
                    isReadable: cells.flag(row, 6),
                    isReachable: cells.flag(row, 5),
                    privileges: privileges,
                    isUpdatable: cells.flag(row, 10),
                    hasInsertTrigger: cells.flag(row, 11),
                    children: cells.oids(row, 12),
                    obstacles: obstacles,
                    hasActivePolicies: cells.flag(row, 17),
                    updatableColumns: cells.int16s(row, 18),
                    partitionColumns: cells.int16s(row, 16)
                )
            )
        }
    }

    private mutating func columns(_ cells: inout CatalogCells) {
        // There are few types and many columns, so each type's name is made once.
        var typeNames: [UInt64: String] = [:]
        catalog.columns.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            let type = cells.oid(row, 3)
            let modifier = cells.int32(row, 4)
            let key = UInt64(type) << 32 | UInt64(UInt32(bitPattern: modifier))
            let typeName: String
            if let known = typeNames[key] {
                typeName = known
            } else {
                typeName = cells.string(row, 5)
                typeNames[key] = typeName
            }
            catalog.columns.append(
                Catalog.Column(
                    relation: cells.oid(row, 0),
                    number: cells.int16(row, 1),
                    name: cells.string(row, 2),
                    type: type,
                    typeModifier: modifier,
                    typeName: typeName,
                    isNotNull: cells.flag(row, 6),
                    hasDefault: cells.flag(row, 7),
                    identity: cells.letter(row, 8),
                    isGenerated: cells.letter(row, 9) != 0,
                    isGranted: cells.flag(row, 10),
                    hasLooseCollation: cells.flag(row, 11),
                    hasInsertTime: cells.flag(row, 12),
                    collation: cells.optionalString(row, 13)
                )
            )
        }
    }

    private mutating func constraints(_ cells: inout CatalogCells) {
        catalog.constraints.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            guard let kind = Catalog.Constraint.Kind(rawValue: cells.letter(row, 3)) else { continue }
            var constraint = Catalog.Constraint(
                oid: cells.oid(row, 0),
                relation: cells.oid(row, 1),
                name: cells.string(row, 2),
                kind: kind,
                columns: cells.int16s(row, 4),
                isEnforced: cells.flag(row, 10),
                hasPeriod: cells.flag(row, 11),
                isValidated: cells.flag(row, 13),
                isDeferrable: cells.flag(row, 14),
                canBeDeferred: cells.flag(row, 16)
            )
            if kind == .foreignKey {
                constraint.target = cells.oid(row, 5)
                constraint.targetColumns = cells.int16s(row, 6)
                constraint.deleteAction = cells.letter(row, 7)
                constraint.isMatchFull = cells.letter(row, 8) == UInt8(ascii: "f")
                constraint.parent = cells.oid(row, 9)
                constraint.deleteSetColumns = cells.int16s(row, 12)
                constraint.updateAction = cells.letter(row, 15)
                constraint.operators = cells.oids(row, 17)
                constraint.isOfOtherOwner = cells.flag(row, 18)
            }
            catalog.constraints.append(constraint)
        }
    }

    private mutating func partitionKeys(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.partitionKeys.append(
                Catalog.PartitionKey(
                    constraint: cells.oid(row, 0),
                    source: cells.oid(row, 1),
                    columns: cells.int16s(row, 2),
                    target: cells.oid(row, 3),
                    targetColumns: cells.int16s(row, 4)
                )
            )
        }
    }

    private mutating func indexes(_ cells: inout CatalogCells) {
        catalog.indexes.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            catalog.indexes.append(
                Catalog.Index(
                    relation: cells.oid(row, 0),
                    columns: cells.int16s(row, 1),
                    keyCount: Int(cells.int16(row, 2)),
                    predicate: cells.optionalString(row, 3),
                    isDeferrable: !cells.flag(row, 4),
                    hasDistinctNulls: !cells.flag(row, 5)
                )
            )
        }
    }

    private mutating func serverChecks(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.serverChecks.append(
                Catalog.ServerCheckElement(
                    index: cells.oid(row, 0),
                    relation: cells.oid(row, 1),
                    column: cells.int16(row, 2),
                    expression: cells.string(row, 3),
                    conflict: cells.string(row, 4),
                    predicate: cells.optionalString(row, 5),
                    hasDistinctNulls: !cells.flag(row, 6),
                    needsServer: cells.flag(row, 7),
                    columns: cells.int16s(row, 8)
                )
            )
        }
    }

    private mutating func types(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.types.append(
                Catalog.TypeRow(
                    oid: cells.oid(row, 0),
                    schema: cells.string(row, 1),
                    name: cells.string(row, 2),
                    kind: cells.letter(row, 3),
                    category: cells.letter(row, 4),
                    base: cells.oid(row, 5),
                    baseModifier: cells.int32(row, 6),
                    element: cells.oid(row, 7),
                    array: cells.oid(row, 8),
                    relation: cells.oid(row, 9),
                    isNotNull: cells.flag(row, 10),
                    hasDefault: cells.flag(row, 11)
                )
            )
        }
    }

    private mutating func operators(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.operators.append(
                Catalog.Operator(
                    oid: cells.oid(row, 0),
                    schema: cells.string(row, 1),
                    name: cells.string(row, 2),
                    left: cells.oid(row, 3),
                    right: cells.oid(row, 4),
                    negator: cells.oid(row, 5),
                    strategy: cells.int16(row, 6)
                )
            )
        }
    }

    private mutating func enumLabels(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.enumLabels.append(
                Catalog.EnumLabel(
                    type: cells.oid(row, 0),
                    position: cells.float(row, 1),
                    label: cells.string(row, 2)
                )
            )
        }
    }

    private mutating func comments(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            let relation = cells.oid(row, 0)
            let column = Int16(clamping: cells.int32(row, 1))
            let object: Catalog.Comment.Object = column == 0 ? .relation(relation) : .column(relation, column)
            catalog.comments.append(Catalog.Comment(object: object, text: cells.string(row, 2)))
        }
    }

    private mutating func keyComments(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            let object = Catalog.Comment.Object.constraint(
                cells.oid(row, 0),
                name: cells.string(row, 1),
                relation: cells.oid(row, 2)
            )
            catalog.comments.append(Catalog.Comment(object: object, text: cells.string(row, 3)))
        }
    }

    private mutating func views(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            let view = cells.oid(row, 0)
            let found = cells.result.withCell(row: row, column: 1) { text in
                let definition = ViewDefinition(text)
                return (definition.projection(of: view), definition.origins(of: view))
            }
            if let projection = found?.0 { catalog.projections.append(projection) }
            if let origins = found?.1 { catalog.viewOrigins.append(origins) }
        }
    }
}
