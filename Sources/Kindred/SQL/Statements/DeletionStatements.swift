import KindredPostgres
import KindredSchema

/// The statements of a deletion: each takes any number of keys, as one array per key column.
enum DeletionStatements {
    /// `SELECT … WHERE key IN (…) FOR UPDATE`: the rows to be deleted; the lock keeps other transactions from
    /// referencing them.
    static func rows(_ entity: EntityRuntime, _ keys: [ObjectKey], columns: [Int], isLocked: Bool) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.shardKeys(keys, of: entity.key, in: entity)
        return try parameters.statement("deletion rows \(isLocked) \(columns)", in: entity) {
            """
            SELECT \(try entity.selectList(of: columns, alias: "t")) FROM \(try entity.quotedName) AS t \
            WHERE \(try keys.condition("t"))\(isLocked ? try entity.locking("t") : "")
            """
        }
    }

    /// `SELECT … WHERE column IN (…) FOR UPDATE`: the rows at the other end of a relationship.
    ///
    /// - Parameter rows: which of them.
    static func others(
        _ step: DeletionStep, _ sources: [ObjectKey], columns: [Int], isLocked: Bool, among rows: Rows = .all
    ) throws -> Statement {
        let entity = step.destination
        let shape =
            "deletion others \(step.source.index).\(step.relationship.slot) \(isLocked) \(step.helper != nil) \(columns) \(rows)"
        var parameters = Parameters()
        let sources = try parameters.shardKeys(sources, of: step.destinationColumns, in: step.linkedEntity)
        let filter = rows == .shown ? try parameters.filterClause(of: entity) : ""
        return try parameters.statement(shape, in: entity) {
            """
            SELECT \(try entity.selectList(of: columns, alias: "t")) FROM \(try destinationName(step)) AS t \
            WHERE \(try condition(step, sources))\(filter)\(try unmarked(rows, of: entity))\
            \(isLocked ? try entity.locking("t") : "")
            """
        }
    }

    /// Which rows at the other end of a relationship a deletion looks at.
    enum Rows {
        /// All: where rows go, the database looks at all that refer to them.
        case all
        /// Those that are not marked as deleted.
        case unmarked
        /// Those that their filter shows.
        case shown
    }

    private static func unmarked(_ rows: Rows, of entity: EntityRuntime) throws -> String {
        guard rows == .unmarked, let mark = entity.deletionMark else { return "" }
        return " AND t.\(try entity.quoted(mark)) IS NULL"
    }

    /// `SELECT … WHERE key IN (…) AND tableoid IN (…)`: the rows that reference the given ones by foreign keys of
    /// single partitions.
    static func others(_ key: PartitionKeyRuntime, to referenced: EntityRuntime, _ keys: [ObjectKey]) throws
        -> Statement
    {
        let entity = key.source
        var parameters = Parameters()
        let keys = try parameters.keys(keys, of: referenced.key, in: referenced)
        let holders = try parameters.numbers(key.model.constraints.lazy.map { Int64($0.tableOID) })
        let targets = try parameters.numbers(key.model.constraints.lazy.map { Int64($0.targetOID) })
        let shape = "deletion partition rows \(referenced.index) \(key.columns) \(key.referenced)"
        return try parameters.statement(shape, in: entity) {
            let pairs = try zip(key.columns, key.referenced).map {
                "\(try entity.compared($0, alias: "t")) = \(try referenced.compared($1, alias: "r"))"
            }
            func within(_ table: String) -> String {
                "(SELECT \(table) UNION SELECT relid::oid FROM pg_catalog.pg_partition_tree(\(table)))"
            }
            return """
                SELECT \(try entity.selectList(of: entity.key, alias: "t")) FROM \(try entity.quotedName) AS t \
                JOIN \(try referenced.quotedName) AS r ON \(pairs.joined(separator: " AND ")) \
                WHERE \(try keys.condition("r"))\(try entity.tenantClause("t")) \
                AND (t.tableoid, r.tableoid) IN (SELECT h.relid, d.relid \
                FROM unnest(\(holders)::int8[]::oid[], \(targets)::int8[]::oid[]) AS k (holder, target) \
                CROSS JOIN LATERAL \(within("k.holder")) AS h (relid) CROSS JOIN LATERAL \(within("k.target")) AS d (relid))
                """
        }
    }

    /// `SELECT column, count(*) …`: the source with the most rows that forbid its deletion, and their number.
    ///
    /// - Parameter isFiltered: whether rows do not count that their filter hides.
    static func blockers(
        _ step: DeletionStep, _ sources: [ObjectKey], without deleted: [ObjectKey], isFiltered: Bool
    ) throws -> Statement {
        let entity = step.destination
        let isPartial = !deleted.isEmpty
        var parameters = Parameters()
        let sources = try parameters.shardKeys(sources, of: step.destinationColumns, in: step.linkedEntity)
        let kept = isPartial ? try parameters.keys(deleted, of: entity.key, in: entity) : nil
        let filter = isFiltered ? try parameters.filterClause(of: entity) : ""
        let shape = "deletion blockers \(step.source.index).\(step.relationship.slot) \(isPartial) \(isFiltered)"
        return try parameters.statement(shape, in: entity) {
            let (linked, alias) = (step.linkedEntity, step.helper == nil ? "t" : "h")
            let columns = try linked.selectList(of: step.destinationColumns, alias: alias)
            let names = try step.destinationColumns.map { "\(alias).\(try linked.quoted($0))" }.joined(separator: ", ")
            return """
                SELECT \(columns), count(*) FROM \(try destinationName(step)) AS t\(try join(step)) \
                WHERE \(try sources.condition(alias))\(try tenant(step))\(try kept.map(exclusion) ?? "")\(filter) \
                GROUP BY \(names) ORDER BY count(*) DESC LIMIT 1
                """
        }
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
        var parameters = Parameters()
        let sources = try parameters.shardKeys(sources, of: step.destinationColumns, in: step.linkedEntity)
        let kept = isPartial ? try parameters.keys(deleted, of: entity.key, in: entity) : nil
        let shape = "deletion nullify \(step.source.index).\(step.relationship.slot) \(isPartial)"
        return try parameters.statement(shape, in: entity) {
            let found = try condition(step, sources) + (try kept.map(exclusion) ?? "")
            guard entity.isChecked(.updateTriggers) else {
                return try entity.update(
                    alias: "t", set: try entity.nulls(cleared), where: found,
                    returning: try entity.selectList(alias: "t"))
            }
            // A trigger may give the rows another owner.
            let hasLeft = "(\(try condition(step, sources))) IS NOT TRUE"
            return try entity.checkedRows(
                try entity.checkedUpdate(
                    set: try entity.nulls(cleared), where: found, isRight: hasLeft, keepsKeys: !entity.key.isEmpty))
        }
    }

    /// One statement that deletes rows of one or several entities, so that foreign keys in a cycle do not matter.
    ///
    /// Returns one row with the number of deleted rows for each of `keyed`, unless it is a plain DELETE.
    static func delete(
        _ keyed: [(entity: EntityRuntime, keys: [ObjectKey])],
        keyless: [(step: DeletionStep, sources: [ObjectKey])] = []
    ) throws -> Statement {
        var parameters = Parameters()
        var parts: [String] = []
        for (entity, keys) in keyed {
            let keys = try parameters.shardKeys(keys, of: entity.key, in: entity)
            parts.append("DELETE FROM \(try entity.quotedName) AS t WHERE \(try keys.condition("t"))")
        }
        if parts.count == 1, keyless.isEmpty { return parameters.statement(StatementText(parts[0])) }
        for (step, sources) in keyless {
            let sources = try parameters.shardKeys(sources, of: step.destinationColumns, in: step.linkedEntity)
            parts.append("DELETE FROM \(try destinationName(step)) AS t WHERE \(try condition(step, sources))")
        }
        let deletions = parts.enumerated().map { "d\($0) AS (\($1) RETURNING 1)" }.joined(separator: ", ")
        let counts = keyed.indices.map { "(SELECT count(*) FROM d\($0))" }.joined(separator: ", ")
        return parameters.statement(StatementText("WITH \(deletions) SELECT \(counts)"))
    }

    /// `DELETE … WHERE key`, or one DELETE of several rows that deletes none if one of them is missing.
    static func delete(_ entity: EntityRuntime, _ rows: [VersionedKey]) throws -> Statement {
        guard rows.count == 1 else { return try deleteAll(entity, rows) }
        var parameters = Parameters()
        let row = try parameters.key(rows[0], of: entity)
        return try parameters.statement("delete", in: entity) {
            let found = try row.equality()
            guard entity.isChecked(.deleteTriggers) else {
                return "DELETE FROM \(try entity.quotedName) WHERE \(found)"
            }
            return Self.checked(
                "\(try entity.found(where: found, isDeletion: true))",
                "DELETE FROM \(try entity.quotedName) WHERE \(found)\(EntityRuntime.afterFound)")
        }
    }

    /// A DELETE of several rows of one entity that deletes none if one of them is missing.
    private static func deleteAll(_ entity: EntityRuntime, _ rows: [VersionedKey]) throws -> Statement {
        var parameters = Parameters()
        let (keys, versioned) = try parameters.keys(rows.map(\.key), versions: rows.map(\.version), of: entity)
        let count = try parameters.count(rows.count)
        return try parameters.statement("delete all", in: entity) {
            let filter = try keys.condition("t")
            let version = try versioned.map { " AND \(try $0.exists("t"))" } ?? ""
            guard entity.isChecked(.deleteTriggers) else {
                return """
                    WITH locked AS MATERIALIZED (\
                    SELECT 1 FROM \(try entity.quotedName) AS t WHERE \(filter)\(version)\
                    \(try entity.locking("t"))) \
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

    /// The table of the rows at the other end: where a foreign key leads to them, without inheriting tables.
    private static func destinationName(_ step: DeletionStep) throws -> String {
        let entity = step.destination
        let isReferenced = step.helper != nil || step.relationship.holdsForeignKey
        return try isReferenced ? entity.ownTableName : entity.quotedName
    }

    /// The condition for the rows `t` at the other end of the sources.
    private static func condition(_ step: DeletionStep, _ sources: KeySet) throws -> String {
        guard let helper = step.helper else { return try sources.condition("t") }
        let entity = step.destination
        let rows = helper.entity
        let names = try step.relationship.otherColumns.map { try entity.compared($0, alias: "t") }.joined(
            separator: ", ")
        let columns = try helper.destinationColumns.map { try rows.compared($0, alias: "h") }.joined(separator: ", ")
        return """
            (\(names)) IN (SELECT \(columns) FROM \(try rows.ownTableName) AS h WHERE \(try sources.condition("h")))\
            \(try tenant(step))
            """
    }

    /// The condition by which the rows `t` behind a helper's are the tenant's; the sources' condition says it of others.
    private static func tenant(_ step: DeletionStep) throws -> String {
        step.helper == nil ? "" : try step.destination.tenantClause("t")
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
    private static func exclusion(_ keys: KeySet) throws -> String {
        let pairs = try zip(keys.names, keys.columns).map { "d.\($0) = \(try keys.entity.compared($1, alias: "t"))" }
        return " AND NOT EXISTS (SELECT FROM \(keys.table("d")) WHERE \(pairs.joined(separator: " AND ")))"
    }
}
