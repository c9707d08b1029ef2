import KindredPostgres
import KindredSchema

/// Turns the results of the doctor's queries into its catalog.
struct DoctorCatalogDecoder {
    private(set) var catalog = DoctorCatalog()

    /// - Parameter results: The results of `DoctorQueries.all`, in its order.
    /// - Throws: `PostgresError` `.protocolViolation` if a result has another shape than was asked for.
    init(_ results: [QueryResult]) throws {
        var rest = results[...]
        try decode(&rest, "settings", columns: 5) { $0.settings(&$1) }
        try decode(&rest, "relations", columns: 16) { $0.relations(&$1) }
        try decode(&rest, "columns", columns: 14) { $0.columns(&$1) }
        try decode(&rest, "indexes", columns: 27) { $0.indexes(&$1) }
        try decode(&rest, "foreign keys", columns: 18) { $0.foreignKeys(&$1) }
        try decode(&rest, "operator classes", columns: 2) { $0.families(&$1) }
        try decode(&rest, "operators", columns: 2) { $0.searchOperators(&$1) }
        try decode(&rest, "sequences", columns: 9) { $0.sequences(&$1) }
        try decode(&rest, "functions", columns: 7) { $0.functions(&$1) }
        try decode(&rest, "policies", columns: 8) { $0.policies(&$1) }
        try decode(&rest, "views", columns: 2) { $0.viewTables(&$1) }
        try decode(&rest, "calls", columns: 5) { $0.looseCalls(&$1) }
        try decode(&rest, "comments", columns: 4) { $0.comments(&$1) }
        try decode(&rest, "constraints", columns: 3) { $0.constraints(&$1) }
        try decode(&rest, "uses of columns", columns: 3) { $0.columnUses(&$1) }
        try decode(&rest, "extensions", columns: 1) { $0.extensions(&$1) }
    }

    private mutating func decode(
        _ rest: inout ArraySlice<QueryResult>,
        _ what: String,
        columns: Int,
        _ body: (inout Self, inout CatalogCells) -> Void
    ) throws {
        let error = PostgresError(.protocolViolation, "The server's answer about \(what) has an unexpected shape")
        guard let result = rest.popFirst() else { throw error }
        var cells = CatalogCells(result, columns: columns)
        if !cells.isMalformed { body(&self, &cells) }
        if cells.isMalformed { throw error }
    }

    private mutating func settings(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.settings = DoctorCatalog.Settings(
                serverVersion: Int(cells.int32(row, 0)), isStandby: cells.flag(row, 1),
                countsAccess: cells.flag(row, 2), statisticsAge: cells.optionalInt64(row, 3),
                isSuperuser: cells.flag(row, 4))
        }
    }

    private mutating func relations(_ cells: inout CatalogCells) {
        catalog.relations.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            // Without an analysis the file tells: a row takes about a hundred bytes.
            let analyzed = cells.float(row, 6)
            let counted = cells.optionalInt64(row, 7) ?? 0
            let measured = (cells.optionalInt64(row, 8) ?? 0) / 100
            let estimate = analyzed.isFinite && analyzed > 0 ? Int64(min(analyzed, 1e15)) : 0
            let (isPartition, parents) = (cells.flag(row, 4), cells.oids(row, 5))
            catalog.relations.append(
                DoctorCatalog.Relation(
                    oid: cells.oid(row, 0), schema: cells.string(row, 1), name: cells.string(row, 2),
                    kind: cells.letter(row, 3), isPartition: isPartition, parent: isPartition ? parents.first ?? 0 : 0,
                    ancestors: isPartition ? [] : parents, isTyped: cells.flag(row, 14),
                    isUnlogged: cells.flag(row, 15),
                    rows: cells.letter(row, 3) == UInt8(ascii: "p")
                        ? 0 : Int(clamping: counted > 0 ? max(counted, estimate) : max(estimate, measured)),
                    hasRowSecurity: cells.flag(row, 9), isSecurityInvoker: cells.flag(row, 10),
                    hasUpdateTrigger: cells.flag(row, 11), deletes: Int(clamping: cells.optionalInt64(row, 12) ?? 0),
                    updates: Int(clamping: cells.optionalInt64(row, 13) ?? 0)))
        }
    }

    private mutating func columns(_ cells: inout CatalogCells) {
        catalog.columns.reserveCapacity(cells.result.count)
        var typeNames: [ServerText: String] = [:]
        for row in cells.result.indices {
            let typeName = cells.string(row, 4)
            // Few types, many columns: each name is kept once.
            let shared = typeNames[typeName] ?? typeName
            typeNames[typeName] = shared
            var collationName: QualifiedName?
            if let name = cells.optionalString(row, 6), let schema = cells.optionalString(row, 7) {
                collationName = QualifiedName(schema: schema, name: name)
            }
            catalog.columns.append(
                DoctorCatalog.Column(
                    relation: cells.oid(row, 0), number: cells.int16(row, 1), name: cells.string(row, 2),
                    type: cells.oid(row, 3), typeName: shared, collation: cells.oid(row, 5),
                    collationName: collationName, isNotNull: cells.flag(row, 8), hasDefault: cells.flag(row, 9),
                    isIdentity: cells.letter(row, 10) != 0, isGenerated: cells.letter(row, 11) != 0,
                    isInherited: cells.flag(row, 12), isPartitionKey: cells.flag(row, 13)))
        }
    }

    private mutating func indexes(_ cells: inout CatalogCells) {
        catalog.indexes.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            catalog.indexes.append(
                DoctorCatalog.Index(
                    oid: cells.oid(row, 0), relation: cells.oid(row, 1), name: cells.string(row, 2),
                    method: cells.string(row, 3), columns: cells.int16s(row, 4),
                    keyCount: max(Int(cells.int16(row, 5)), 0),
                    isUnique: cells.flag(row, 6), isPrimary: cells.flag(row, 7), isExclusion: cells.flag(row, 8),
                    isValid: cells.flag(row, 9), isReady: cells.flag(row, 10), isLive: cells.flag(row, 11),
                    hasDistinctNulls: !cells.flag(row, 12), isReplicaIdentity: cells.flag(row, 13),
                    isPartitioned: cells.flag(row, 14), classes: cells.oids(row, 15), collations: cells.oids(row, 16),
                    options: cells.int16s(row, 17), expressions: cells.optionalString(row, 18),
                    predicate: cells.optionalString(row, 19), namedColumns: cells.int16s(row, 26),
                    constraint: optionalOID(&cells, row, 20),
                    constraintName: cells.optionalString(row, 21), isDeferrable: cells.flag(row, 22),
                    parent: optionalOID(&cells, row, 23), scans: cells.optionalInt64(row, 24) ?? 0,
                    pages: Int(cells.int32(row, 25))))
        }
    }

    private mutating func foreignKeys(_ cells: inout CatalogCells) {
        catalog.foreignKeys.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            catalog.foreignKeys.append(
                DoctorCatalog.ForeignKey(
                    oid: cells.oid(row, 0), relation: cells.oid(row, 1), name: cells.string(row, 2),
                    columns: cells.int16s(row, 3), target: cells.oid(row, 4), targetColumns: cells.int16s(row, 5),
                    deleteAction: cells.letter(row, 6), updateAction: cells.letter(row, 7),
                    deleteSetColumns: cells.int16s(row, 8), isMatchFull: cells.letter(row, 9) == UInt8(ascii: "f"),
                    parent: cells.oid(row, 10), isValidated: cells.flag(row, 11), isDeferrable: cells.flag(row, 12),
                    isDeferred: cells.flag(row, 13), isEnforced: cells.flag(row, 14), hasPeriod: cells.flag(row, 15),
                    operators: cells.oids(row, 16), targetIndex: cells.oid(row, 17)))
        }
    }

    private mutating func families(_ cells: inout CatalogCells) {
        for row in cells.result.indices { catalog.families[cells.oid(row, 0)] = cells.oid(row, 1) }
    }

    private mutating func searchOperators(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.searchable.insert(.init(family: cells.oid(row, 0), operation: cells.oid(row, 1)))
        }
    }

    private mutating func sequences(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.sequences.append(
                DoctorCatalog.Sequence(
                    oid: cells.oid(row, 0), schema: cells.string(row, 1), name: cells.string(row, 2),
                    relation: cells.oid(row, 3), column: cells.int16(row, 4), maximum: cells.int64(row, 5),
                    increment: cells.int64(row, 6), isReadable: cells.flag(row, 7),
                    lastValue: cells.optionalInt64(row, 8)))
        }
    }

    private mutating func functions(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.functions.append(
                DoctorCatalog.Function(
                    oid: cells.oid(row, 0), schema: cells.string(row, 1), name: cells.string(row, 2),
                    arguments: cells.string(row, 3), hasSearchPath: cells.flag(row, 4),
                    isSecurityDefiner: cells.flag(row, 5), isResolved: cells.flag(row, 6)))
        }
    }

    private mutating func policies(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.policies.append(
                DoctorCatalog.Policy(
                    oid: cells.oid(row, 0), relation: cells.oid(row, 1), name: cells.string(row, 2),
                    using: cells.optionalString(row, 3), check: cells.optionalString(row, 4),
                    isPermissive: cells.flag(row, 5), command: cells.letter(row, 6),
                    roles: cells.string(row, 7).split(separator: "\n").map(String.init)))
        }
    }

    private mutating func viewTables(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.viewsOfSecuredTables.append((cells.oid(row, 0), cells.oid(row, 1)))
        }
    }

    private mutating func looseCalls(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            let function = DoctorCatalog.Function(
                oid: cells.oid(row, 1), schema: cells.string(row, 2), name: cells.string(row, 3),
                arguments: cells.string(row, 4))
            catalog.looseCalls.append((cells.oid(row, 0), function))
        }
    }

    private mutating func comments(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            let oid = cells.oid(row, 1)
            let column = Int16(clamping: cells.int32(row, 2))
            let object: CatalogObject
            switch cells.letter(row, 0) {
            case UInt8(ascii: "r"): object = column == 0 ? .relation(oid) : .column(oid, column)
            case UInt8(ascii: "c"): object = .constraint(oid)
            case UInt8(ascii: "f"): object = .function(oid)
            case UInt8(ascii: "n"): object = .schema(oid)
            case UInt8(ascii: "p"): object = .policy(oid)
            default: continue
            }
            catalog.comments[object] = cells.string(row, 3)
        }
    }

    private mutating func constraints(_ cells: inout CatalogCells) {
        catalog.constraints.reserveCapacity(cells.result.count)
        for row in cells.result.indices {
            catalog.constraints.append(
                DoctorCatalog.Constraint(
                    relation: cells.oid(row, 0), name: cells.string(row, 1), check: cells.optionalString(row, 2)))
        }
    }

    private mutating func columnUses(_ cells: inout CatalogCells) {
        for row in cells.result.indices {
            catalog.columnUses.append(
                DoctorCatalog.ColumnUse(
                    relation: cells.oid(row, 0), column: cells.int16(row, 1), user: cells.string(row, 2)))
        }
    }

    private mutating func extensions(_ cells: inout CatalogCells) {
        for row in cells.result.indices { catalog.publicExtensions.append(cells.string(row, 0)) }
    }

    /// 0 for NULL.
    private func optionalOID(_ cells: inout CatalogCells, _ row: Int, _ column: Int) -> UInt32 {
        cells.result.withCell(row: row, column: column) { _ in true } == nil ? 0 : cells.oid(row, column)
    }
}
