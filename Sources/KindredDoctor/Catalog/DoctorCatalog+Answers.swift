import KindredPostgres
import KindredSchema

extension DoctorCatalog {
    /// Makes the catalog of the answers to `DoctorQueries.all`, in their order.
    ///
    /// - Throws: ``SchemaError`` with the code `unreadableCatalog` if an answer has another shape than was asked for.
    init(_ answers: inout CatalogAnswers) throws {
        try answers.rows("settings").forEach { settings = Settings(&$0) }
        relations = try answers.rows("relations").map(Relation.init)
        // Few types, many columns: each name is kept once.
        var typeNames: [ServerText: String] = [:]
        columns = try answers.rows("columns").map { Column(&$0, &typeNames) }
        indexes = try answers.rows("indexes").map(Index.init)
        try answers.rows("constraints").forEach { row in
            if row["contype"] == UInt8(ascii: "f") {
                foreignKeys.append(ForeignKey(&row))
            } else {
                constraints.append(Constraint(relation: row["conrelid"], name: row["conname"], check: row["condition"]))
            }
        }
        try answers.rows("operator classes").forEach { families[$0["oid"]] = $0["opcfamily"] }
        try answers.rows("operators").forEach { row in
            searchable.insert(SearchOperator(family: row["amopfamily"], operation: row["amopopr"]))
        }
        sequences = try answers.rows("sequences").map { row in
            Sequence(
                oid: row["oid"], schema: row["nspname"], name: row["relname"], relation: row["relation"],
                column: row["number"], maximum: row["seqmax"], increment: row["seqincrement"], isReadable: row["may"],
                lastValue: row["last_value"])
        }
        functions = try answers.rows("functions").map { row in
            var function = Function(&row)
            function.hasSearchPath = row["has_path"]
            function.isSecurityDefiner = row["prosecdef"]
            function.isResolved = row["is_resolved"]
            return function
        }
        policies = try answers.rows("policies").map { row in
            Policy(
                oid: row["oid"], relation: row["polrelid"], name: row["polname"], using: row["condition"],
                check: row["new_condition"], isPermissive: row["polpermissive"], command: row["polcmd"],
                roles: row["roles"])
        }
        viewsOfSecuredTables = try answers.rows("views").map { ($0["view"], $0["target"]) }
        looseCalls = try answers.rows("calls").map { ($0["relation"], Function(&$0)) }
        try answers.rows("comments").forEach { row in
            if let object = CatalogObject(&row) { comments[object] = row["description"] }
        }
        columnUses = try answers.rows("uses of columns").map { row in
            ColumnUse(relation: row["relation"], column: row["number"], user: row["used_by"])
        }
        publicExtensions = try answers.rows("extensions").map { $0["extname"] as String }
    }
}

extension DoctorCatalog.Settings {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            serverVersion: Int(row["version"] as Int32), isStandby: row["is_standby"], countsAccess: row["counts"],
            statisticsAge: row["age"], isSuperuser: row["rolsuper"])
    }
}

extension DoctorCatalog.Relation {
    fileprivate init(_ row: inout CatalogRow) {
        let (isPartition, parents): (Bool, [UInt32]) = (row["relispartition"], row["parents"])
        // Without an analysis the file tells: a row takes about a hundred bytes.
        let (analyzed, counted): (Float, Int64?) = (row["reltuples"], row["live"])
        let measured = (row["size"] as Int64? ?? 0) / 100
        let estimate = analyzed.isFinite && analyzed > 0 ? Int64(min(analyzed, 1e15)) : 0
        let isPartitioned = row["relkind"] == UInt8(ascii: "p")
        let rows = if let counted, counted > 0 { max(counted, estimate) } else { max(estimate, measured) }
        self.init(
            oid: row["oid"], schema: row["nspname"], name: row["relname"], kind: row["relkind"],
            isPartition: isPartition,
            parent: isPartition ? parents.first ?? 0 : 0, ancestors: isPartition ? [] : parents,
            isTyped: row["is_typed"], isUnlogged: row["is_unlogged"], rows: isPartitioned ? 0 : Int(clamping: rows),
            hasRowSecurity: row["relrowsecurity"], isSecurityInvoker: row["is_invoker"],
            hasUpdateTrigger: row["has_trigger"], deletes: Int(clamping: row["deletes"] as Int64? ?? 0),
            updates: Int(clamping: row["updates"] as Int64? ?? 0))
    }
}

extension DoctorCatalog.Column {
    fileprivate init(_ row: inout CatalogRow, _ typeNames: inout [ServerText: String]) {
        let own: String = row["type_name"]
        let typeName = typeNames[own] ?? own
        typeNames[own] = typeName
        var collationName: QualifiedName?
        if let name: String = row["collname"], let schema: String = row["collschema"] {
            collationName = QualifiedName(schema: schema, name: name)
        }
        let (identity, generated): (UInt8, UInt8) = (row["attidentity"], row["attgenerated"])
        self.init(
            relation: row["attrelid"], number: row["attnum"], name: row["attname"], type: row["atttypid"],
            typeName: typeName, collation: row["attcollation"], collationName: collationName,
            isNotNull: row["is_not_null"], hasDefault: row["atthasdef"], isIdentity: identity != 0,
            isGenerated: generated != 0, isInherited: row["is_inherited"], isPartitionKey: row["is_key"])
    }
}

extension DoctorCatalog.Index {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            oid: row["indexrelid"], relation: row["indrelid"], name: row["relname"], method: row["amname"],
            columns: row["indkey"], keyCount: max(Int(row["indnkeyatts"] as Int16), 0), isUnique: row["indisunique"],
            isPrimary: row["indisprimary"], isExclusion: row["indisexclusion"], isValid: row["indisvalid"],
            isReady: row["indisready"], isLive: row["indislive"],
            hasDistinctNulls: !(row[ifThere: "indnullsnotdistinct"] ?? false), isReplicaIdentity: row["indisreplident"],
            isPartitioned: row["relkind"] == UInt8(ascii: "I"), classes: row["indclass"],
            collations: row["indcollation"], options: row["indoption"], expressions: row["expressions"],
            predicate: row["predicate"], namedColumns: row["named"], constraint: row["constraint_id"] ?? 0,
            constraintName: row["conname"], isDeferrable: row["condeferrable"], parent: row["parent"] ?? 0,
            scans: row["scans"] ?? 0, pages: Int(row["relpages"] as Int32))
    }
}

extension DoctorCatalog.ForeignKey {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            oid: row["oid"], relation: row["conrelid"], name: row["conname"], columns: row["conkey"],
            target: row["confrelid"], targetColumns: row["confkey"], deleteAction: row["confdeltype"],
            updateAction: row["confupdtype"], deleteSetColumns: row[ifThere: "confdelsetcols"] ?? [],
            isMatchFull: row["confmatchtype"] == UInt8(ascii: "f"), parent: row["conparentid"],
            isValidated: row["convalidated"], isDeferrable: row["condeferrable"], isDeferred: row["condeferred"],
            isEnforced: row[ifThere: "conenforced"] ?? true, hasPeriod: row[ifThere: "conperiod"] ?? false,
            operators: row["conffeqop"], targetIndex: row["conindid"])
    }
}

extension DoctorCatalog.Function {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(oid: row["oid"], schema: row["nspname"], name: row["proname"], arguments: row["arguments"])
    }
}

extension CatalogObject {
    /// The object of a comment; nil for one of another kind.
    fileprivate init?(_ row: inout CatalogRow) {
        let (kind, oid, number): (UInt8, UInt32, Int32) = (row["kind"], row["objoid"], row["objsubid"])
        switch kind {
        case UInt8(ascii: "r"): self = number == 0 ? .relation(oid) : .column(oid, Int16(clamping: number))
        case UInt8(ascii: "c"): self = .constraint(oid)
        case UInt8(ascii: "f"): self = .function(oid)
        case UInt8(ascii: "n"): self = .schema(oid)
        case UInt8(ascii: "p"): self = .policy(oid)
        default: return nil
        }
    }
}
