import KindredPostgres

extension Catalog {
    /// Makes a catalog of answers.
    ///
    /// - Parameter answers: The answers to the queries of `CatalogQueries`, in their order; they are taken away.
    /// - Throws: ``SchemaError`` with the code `unreadableCatalog` if an answer has another shape than was asked for.
    package init(_ answers: inout CatalogAnswers) throws {
        try answers.rows("settings").forEach { row in
            (role, bypassesRowSecurity, isDistributed) = (row["rolname"], row["bypasses"], row["distributed"])
            // Temporary objects are in a schema of their session.
            guard let schema: String = row["schema"], !schema.hasPrefix("pg_temp_") else { return }
            searchPath.append(schema)
            if row["is_open"] { openSchemas.append(schema) }
        }
        relations = try answers.rows("relations").map(Relation.init)
        // There are few types and many columns, so each type's name is made once.
        var typeNames: [UInt64: String] = [:]
        columns = try answers.rows("columns").map { Column(&$0, &typeNames) }
        constraints = try answers.rows("constraints").map(Constraint.init)
        partitionKeys = try answers.rows("keys of partitions").map(PartitionKey.init)
        indexes = try answers.rows("indexes").map(Index.init)
        serverChecks = try answers.rows("values of indexes").map(ServerCheckElement.init)
        types = try answers.rows("types").map(TypeRow.init)
        operators = try answers.rows("operators").map(Operator.init)
        enumLabels = try answers.rows("enum labels").map { row in
            EnumLabel(type: row["enumtypid"], position: row["enumsortorder"], label: row["enumlabel"])
        }
        comments = try answers.rows("comments").map { row in
            let (relation, column): (UInt32, Int32) = (row["objoid"], row["objsubid"])
            return Comment(
                object: column == 0 ? .relation(relation) : .column(relation, Int16(clamping: column)),
                text: row["description"])
        }
        comments += try answers.rows("comments on constraints").map { row in
            Comment(
                object: .constraint(row["objoid"], name: row["conname"], relation: row["conrelid"]),
                text: row["description"])
        }
        try answers.rows("views").forEach { row in
            let view: UInt32 = row["ev_class"]
            let found = row.withBytes(in: "ev_action") { text in
                let definition = ViewDefinition(text)
                return (definition.projection(of: view), definition.origins(of: view))
            }
            if let projection = found?.0 { projections.append(projection) }
            if let origins = found?.1 { viewOrigins.append(origins) }
        }
    }
}

extension Catalog.Relation {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            oid: row["oid"], schema: row["nspname"], name: row["relname"], kind: row["relkind"],
            isPartition: row["relispartition"], isReachable: row["may_use"])
        isReadable = row["may_select"]
        privileges = []
        if row["may_insert"] { privileges.insert(.insert) }
        if row["may_update"] { privileges.insert(.update) }
        if row["may_delete"] { privileges.insert(.delete) }
        (isUpdatable, hasInsertTrigger, children) = (row["updatable"], row["fills_inserts"], row["children"])
        obstacles = RowObstacles(rawValue: row["triggers"]).intersection(.triggers)
        if row["relrowsecurity"] { obstacles.insert(.policies) }
        if row["has_rules"] { obstacles.insert(.rules) }
        (partitionColumns, hasActivePolicies) = (row["partattrs"], row["has_policies"])
        updatableColumns = row["may_update_only"]
    }
}

extension Catalog.Column {
    fileprivate init(_ row: inout CatalogRow, _ typeNames: inout [UInt64: String]) {
        let (relation, number, name): (UInt32, Int16, String) = (row["attrelid"], row["attnum"], row["attname"])
        let (type, modifier): (UInt32, Int32) = (row["atttypid"], row["atttypmod"])
        let key = UInt64(type) << 32 | UInt64(UInt32(bitPattern: modifier))
        let typeName = typeNames[key] ?? row["type_name"]
        typeNames[key] = typeName
        let (isNotNull, hasDefault): (Bool, Bool) = (row["is_not_null"], row["atthasdef"])
        let (identity, generated): (UInt8, UInt8) = (row["attidentity"], row["attgenerated"])
        self.init(
            relation: relation, number: number, name: name, type: type, typeModifier: modifier, typeName: typeName,
            isNotNull: isNotNull, hasDefault: hasDefault, identity: identity, isGenerated: generated != 0,
            isGranted: row["may_select"], hasLooseCollation: row["is_loose"], hasInsertTime: row["has_insert_time"],
            collation: row["collation"])
    }
}

extension Catalog.Constraint {
    /// Nil for another kind.
    fileprivate init?(_ row: inout CatalogRow) {
        let (oid, relation, name): (UInt32, UInt32, String) = (row["oid"], row["conrelid"], row["conname"])
        guard let kind = Kind(rawValue: row["contype"]) else { return nil }
        self.init(oid: oid, relation: relation, name: name, kind: kind, columns: row["conkey"])
        (isEnforced, hasPeriod) = (row["conenforced"], row["conperiod"])
        (isValidated, isDeferrable, canBeDeferred) = (row["convalidated"], row["condeferrable"], row["can_defer"])
        if kind == .check { elementCheck = row["element_check"] }
        guard kind == .foreignKey else { return }
        (target, targetColumns) = (row["confrelid"], row["confkey"])
        (deleteAction, updateAction, deleteSetColumns) = (row["confdeltype"], row["confupdtype"], row["confdelsetcols"])
        (isMatchFull, parent) = (row["confmatchtype"] == UInt8(ascii: "f"), row["conparentid"])
        (operators, isOfOtherOwner) = (row["operators"], row["other_owner"])
    }
}

extension Catalog.PartitionKey {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            constraint: row["oid"], source: row["source"], columns: row["columns"], target: row["target"],
            targetColumns: row["target_columns"])
    }
}

extension Catalog.Index {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            name: row["relname"], relation: row["indrelid"], columns: row["indkey"],
            keyCount: Int(row["indnkeyatts"] as Int16), predicate: row["predicate"], isDeferrable: !row["indimmediate"],
            hasDistinctNulls: !row["indnullsnotdistinct"], hasColumnsEquality: row["comparesascolumns"],
            isReplicaIdentity: row["indisreplident"])
    }
}

extension Catalog.ServerCheckElement {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            index: row["indexrelid"], relation: row["indrelid"], column: row["number"], expression: row["expression"],
            conflict: row["conflict"], predicate: row["predicate"], hasDistinctNulls: !row["indnullsnotdistinct"],
            needsServer: row["isloose"], columns: row["columns"])
    }
}

extension Catalog.TypeRow {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            oid: row["oid"], schema: row["nspname"], name: row["typname"], kind: row["typtype"],
            category: row["typcategory"], base: row["typbasetype"], baseModifier: row["typtypmod"],
            element: row["typelem"], array: row["typarray"], relation: row["typrelid"], isNotNull: row["typnotnull"],
            hasDefault: row["has_default"])
    }
}

extension Catalog.Operator {
    fileprivate init(_ row: inout CatalogRow) {
        self.init(
            oid: row["oid"], schema: row["nspname"], name: row["oprname"], left: row["oprleft"], right: row["oprright"],
            negator: row["oprnegate"], strategy: row["strategy"])
    }
}
