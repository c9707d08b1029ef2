import KindredPostgres
import KindredSchema

/// The statements of a deletion: each takes any number of keys, as one array per key column.
enum DeletionStatements {
    /// `SELECT … WHERE key IN (…) FOR UPDATE`: the rows to be deleted; the lock keeps other transactions from
    /// referencing them.
    static func rows(_ entity: EntityRuntime, _ keys: [ObjectKey], columns: [Int], isLocked: Bool) throws -> Statement {
        let text = try entity.text("deletion rows \(isLocked) \(columns)") {
            """
            SELECT \(try entity.selectList(of: columns, alias: "t")) FROM \(try entity.quotedName) AS t \
            WHERE \(try condition(entity, entity.key, alias: "t", first: 1))\(isLocked ? " FOR UPDATE OF t" : "")
            """
        }
        var bindings = Bindings()
        try KeySet.append(keys, entity.attributes(entity.key), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT … WHERE column IN (…) FOR UPDATE`: the rows at the other end of a relationship.
    static func others(_ step: DeletionStep, _ sources: [ObjectKey], columns: [Int], isLocked: Bool) throws -> Statement
    {
        let entity = step.destination
        let shape =
            "deletion others \(step.source.index).\(step.relationship.slot) \(isLocked) \(step.helper != nil) \(columns)"
        let text = try entity.text(shape) {
            """
            SELECT \(try entity.selectList(of: columns, alias: "t")) FROM \(try destinationName(step)) AS t \
            WHERE \(try condition(step, first: 1))\(isLocked ? " FOR UPDATE OF t" : "")
            """
        }
        var bindings = Bindings()
        try KeySet.append(sources, sourceAttributes(step), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT … WHERE key IN (…) AND tableoid IN (…)`: the rows that reference the given ones by foreign keys of
    /// single partitions.
    static func others(_ key: PartitionKeyRuntime, to referenced: EntityRuntime, _ keys: [ObjectKey]) throws
        -> Statement
    {
        let entity = key.source
        let text = try entity.text("deletion partition rows \(referenced.index) \(key.columns) \(key.referenced)") {
            let pairs = try zip(key.columns, key.referenced).map {
                "\(try entity.compared($0, alias: "t")) = \(try referenced.compared($1, alias: "r"))"
            }
            func within(_ table: String) -> String {
                "(SELECT \(table) UNION SELECT relid::oid FROM pg_catalog.pg_partition_tree(\(table)))"
            }
            let first = referenced.key.count + 1
            return """
                SELECT \(try entity.selectList(of: entity.key, alias: "t")) FROM \(try entity.quotedName) AS t \
                JOIN \(try referenced.quotedName) AS r ON \(pairs.joined(separator: " AND ")) \
                WHERE \(try condition(referenced, referenced.key, alias: "r", first: 1)) \
                AND (t.tableoid, r.tableoid) IN (SELECT h.relid, d.relid \
                FROM unnest($\(first)::int8[]::oid[], $\(first + 1)::int8[]::oid[]) AS k (holder, target) \
                CROSS JOIN LATERAL \(within("k.holder")) AS h (relid) CROSS JOIN LATERAL \(within("k.target")) AS d (relid))
                """
        }
        var bindings = Bindings()
        try KeySet.append(keys, referenced.attributes(referenced.key), to: &bindings)
        for oids in [key.model.constraints.map(\.tableOID), key.model.constraints.map(\.targetOID)] {
            _ = try bindings.appendIntegers(oids.map(Int64.init), of: .int8)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT column, count(*) …`: the source with the most rows that forbid its deletion, and their number.
    static func blockers(_ step: DeletionStep, _ sources: [ObjectKey], without deleted: [ObjectKey]) throws -> Statement
    {
        let entity = step.destination
        let isPartial = !deleted.isEmpty
        let text = try entity.text("deletion blockers \(step.source.index).\(step.relationship.slot) \(isPartial)") {
            let (linked, alias) = (linkedEntity(step), step.helper == nil ? "t" : "h")
            let columns = try linked.selectList(of: step.destinationColumns, alias: alias)
            let names = try step.destinationColumns.map { "\(alias).\(try linked.quoted($0))" }.joined(separator: ", ")
            let filter = KeySet.condition(
                try step.destinationColumns.map { "\(alias).\(try linked.quoted($0))" }, sourceAttributes(step),
                firstParameter: 1)
            return """
                SELECT \(columns), count(*) FROM \(try destinationName(step)) AS t\(try join(step)) \
                WHERE \(filter)\(isPartial ? try exclusion(entity, first: step.destinationColumns.count + 1) : "") \
                GROUP BY \(names) ORDER BY count(*) DESC LIMIT 1
                """
        }
        return Statement(text: text, bindings: try bindings(step, sources, entity, deleted), resultFormat: .binary)
    }

    /// `UPDATE … SET column = NULL WHERE column IN (…) RETURNING …`: clears the references to the deleted rows.
    static func nullify(
        _ step: DeletionStep,
        clearing cleared: [Int],
        of sources: [ObjectKey],
        without deleted: [ObjectKey]
    ) throws -> Statement {
        let entity = step.destination
        let isPartial = !deleted.isEmpty && !entity.key.isEmpty
        let text = try entity.text("deletion nullify \(step.source.index).\(step.relationship.slot) \(isPartial)") {
            let first = step.destinationColumns.count + 1
            let found = try condition(step, first: 1) + (isPartial ? try exclusion(entity, first: first) : "")
            guard entity.isChecked(.updateTriggers) else {
                return try entity.update(
                    alias: "t", set: try entity.nulls(cleared), where: found,
                    returning: try entity.selectList(alias: "t"))
            }
            // A trigger may give the rows another owner.
            let hasLeft = "(\(try condition(step, first: 1))) IS NOT TRUE"
            return try entity.checkedRows(
                try entity.checkedUpdate(
                    set: try entity.nulls(cleared), where: found, isRight: hasLeft, keepsKeys: !entity.key.isEmpty))
        }
        let keys = isPartial ? deleted : []
        return Statement(text: text, bindings: try bindings(step, sources, entity, keys), resultFormat: .binary)
    }

    /// One statement that deletes rows of one or several entities, so that foreign keys in a cycle do not matter.
    ///
    /// Returns one row with the number of deleted rows for each of `keyed`, unless it is a plain DELETE.
    static func delete(
        _ keyed: [(entity: EntityRuntime, keys: [ObjectKey])],
        keyless: [(step: DeletionStep, sources: [ObjectKey])] = []
    ) throws -> Statement {
        var bindings = Bindings()
        var parts: [String] = []
        for (entity, keys) in keyed {
            let filter = try condition(entity, entity.key, alias: "t", first: bindings.count + 1)
            parts.append("DELETE FROM \(try entity.quotedName) AS t WHERE \(filter)")
            try KeySet.append(keys, entity.attributes(entity.key), to: &bindings)
        }
        if parts.count == 1, keyless.isEmpty {
            return Statement(text: StatementText(parts[0]), bindings: bindings, resultFormat: .binary)
        }
        for (step, sources) in keyless {
            let filter = try condition(step, first: bindings.count + 1)
            parts.append("DELETE FROM \(try destinationName(step)) AS t WHERE \(filter)")
            try KeySet.append(sources, sourceAttributes(step), to: &bindings)
        }
        let deletions = parts.enumerated().map { "d\($0) AS (\($1) RETURNING 1)" }.joined(separator: ", ")
        let counts = keyed.indices.map { "(SELECT count(*) FROM d\($0))" }.joined(separator: ", ")
        let text = StatementText("WITH \(deletions) SELECT \(counts)")
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `DELETE … WHERE key`, or one DELETE of several rows that deletes none if one of them is missing.
    static func delete(_ entity: EntityRuntime, _ rows: [VersionedKey]) throws -> Statement {
        guard rows.count == 1 else { return try deleteAll(entity, rows) }
        let text = try entity.text("delete") {
            let found = try entity.equality(entity.versionedKey, firstParameter: 1)
            guard entity.isChecked(.deleteTriggers) else {
                return "DELETE FROM \(try entity.quotedName) WHERE \(found)"
            }
            return Self.checked(
                "\(try entity.found(where: found, isDeletion: true))",
                "DELETE FROM \(try entity.quotedName) WHERE \(found)\(EntityRuntime.afterFound)")
        }
        var bindings = Bindings()
        try entity.append(rows[0], to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// A DELETE of several rows of one entity that deletes none if one of them is missing.
    private static func deleteAll(_ entity: EntityRuntime, _ rows: [VersionedKey]) throws -> Statement {
        let text = try entity.text("delete all") {
            let filter = try condition(entity, entity.key, alias: "t", first: 1)
            let names = try entity.versionedKey.map { "t.\(try entity.quoted($0))" }
            let version =
                entity.version == nil
                ? "" : " AND \(KeySet.exists(names, entity.attributes(entity.versionedKey), firstParameter: 1))"
            let count = "$\(entity.versionedKey.count + 1)"
            guard entity.isChecked(.deleteTriggers) else {
                return """
                    WITH locked AS MATERIALIZED (\
                    SELECT 1 FROM \(try entity.quotedName) AS t WHERE \(filter)\(version) FOR UPDATE) \
                    DELETE FROM \(try entity.quotedName) AS t \
                    WHERE \(filter) AND (SELECT count(*) FROM locked) = \(count)
                    """
            }
            return Self.checked(
                "\(try entity.found(where: "\(filter)\(version)", isDeletion: true))",
                """
                DELETE FROM \(try entity.quotedName) AS t \
                WHERE \(filter) AND \(CheckedWrite.found) = \(count)
                """,
                expecting: "CASE \(CheckedWrite.found) WHEN \(count) THEN \(count) ELSE 0 END")
        }
        var bindings = Bindings()
        try KeySet.append(rows.map(\.key), entity.attributes(entity.key), to: &bindings)
        try entity.append(versions: rows.map(\.version), to: &bindings)
        try bindings.append(Int64(rows.count))
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// A DELETE that checks itself; its result has as many rows as it deleted.
    private static func checked(
        _ found: String, _ delete: String, expecting expected: String = CheckedWrite.found
    ) -> String {
        """
        WITH \(found), written AS (\(delete) RETURNING true AS \(CheckedWrite.isRight)) \
        SELECT 1 FROM written WHERE \(CheckedWrite.condition(expecting: expected))
        """
    }

    // MARK: Pieces

    /// The entity whose columns reference the sources.
    private static func linkedEntity(_ step: DeletionStep) -> EntityRuntime {
        step.helper?.entity ?? step.destination
    }

    /// The table of the rows at the other end: where a foreign key leads to them, without inheriting tables.
    private static func destinationName(_ step: DeletionStep) throws -> String {
        let entity = step.destination
        let isReferenced = step.helper != nil || step.relationship.holdsForeignKey
        return try isReferenced ? entity.ownTableName : entity.quotedName
    }

    private static func sourceAttributes(_ step: DeletionStep) -> [Attribute] {
        linkedEntity(step).attributes(step.destinationColumns)
    }

    private static func condition(_ entity: EntityRuntime, _ columns: [Int], alias: String, first: Int) throws -> String
    {
        KeySet.condition(
            try columns.map { "\(alias).\(try entity.quoted($0))" }, entity.attributes(columns), firstParameter: first)
    }

    /// The condition for the rows `t` at the other end of the sources.
    private static func condition(_ step: DeletionStep, first: Int) throws -> String {
        let entity = step.destination
        guard let helper = step.helper else {
            return try condition(entity, step.destinationColumns, alias: "t", first: first)
        }
        let rows = helper.entity
        let names = try step.relationship.otherColumns.map { try entity.compared($0, alias: "t") }.joined(
            separator: ", ")
        let columns = try helper.destinationColumns.map { try rows.compared($0, alias: "h") }.joined(separator: ", ")
        let filter = try condition(rows, helper.sourceColumns, alias: "h", first: first)
        return "(\(names)) IN (SELECT \(columns) FROM \(try rows.ownTableName) AS h WHERE \(filter))"
    }

    private static func join(_ step: DeletionStep) throws -> String {
        guard let helper = step.helper else { return "" }
        let (rows, entity) = (helper.entity, step.destination)
        let pairs = try zip(helper.destinationColumns, step.relationship.otherColumns).map {
            "\(try rows.compared($0, alias: "h")) = \(try entity.compared($1, alias: "t"))"
        }
        return " JOIN \(try rows.ownTableName) AS h ON \(pairs.joined(separator: " AND "))"
    }

    /// An anti-join, since a long list is slow to search in older servers.
    private static func exclusion(_ entity: EntityRuntime, first: Int) throws -> String {
        let columns = entity.key.indices.map { "k\($0)" }
        let pairs = try zip(columns, entity.key).map { "d.\($0) = \(try entity.compared($1, alias: "t"))" }
        let keys = KeySet.rows(entity.attributes(entity.key), firstParameter: first)
        return """
             AND NOT EXISTS (SELECT FROM \(keys) AS d(\(columns.joined(separator: ", "))) \
            WHERE \(pairs.joined(separator: " AND ")))
            """
    }

    private static func bindings(
        _ step: DeletionStep,
        _ sources: [ObjectKey],
        _ entity: EntityRuntime,
        _ deleted: [ObjectKey]
    ) throws -> Bindings {
        var bindings = Bindings()
        try KeySet.append(sources, sourceAttributes(step), to: &bindings)
        if !deleted.isEmpty { try KeySet.append(deleted, entity.attributes(entity.key), to: &bindings) }
        return bindings
    }
}
