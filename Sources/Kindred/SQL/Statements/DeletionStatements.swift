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
            SELECT \(try entity.texts.selectList(of: columns, alias: "t")) \
            FROM \(try entity.all(as: .row, .all).from(where: try keys.condition("t")))\(isLocked ? try entity.texts.locking("t") : "")
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
        let sources = try parameters.shardKeys(
            sources, of: step.destinationColumns, in: step.linkedEntity, by: step.comparison)
        let others = try Others(step, isShown: rows == .shown, &parameters)
        return try parameters.statement(shape, in: entity) {
            let found = "\(try others.condition(sources))\(try unmarked(rows, of: entity))"
            return """
                SELECT \(try entity.texts.selectList(of: columns, alias: "t")) \
                FROM \(try others.rows.from(where: found))\(isLocked ? try entity.texts.locking("t") : "")
                """
        }
    }

    /// Which rows at the other end of a relationship a deletion looks at.
    enum Rows {
        /// All rows: where rows go, the database looks at all rows that refer to them.
        case all
        /// The rows that are not marked as deleted.
        case unmarked
        /// The rows that their filter shows.
        case shown
    }

    private static func unmarked(_ rows: Rows, of entity: EntityRuntime) throws -> String {
        guard rows == .unmarked, let mark = entity.deletionMark else { return "" }
        return " AND t.\(try entity.texts.quoted(mark)) IS NULL"
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
                entity.texts.equality(
                    of: $0, try entity.texts.compared($0, alias: "t"), try referenced.texts.compared($1, alias: "r"))
            }
            func within(_ table: String) -> String {
                "(SELECT \(table) UNION SELECT relid::oid FROM pg_catalog.pg_partition_tree(\(table)))"
            }
            return """
                SELECT \(try entity.texts.selectList(of: entity.key, alias: "t")) FROM \(try entity.all(as: .row, .all).from(
                where: """
                    \(try keys.condition("r")) AND (t.tableoid, r.tableoid) IN (SELECT h.relid, d.relid \
                    FROM unnest(\(holders)::int8[]::oid[], \(targets)::int8[]::oid[]) AS k (holder, target) \
                    CROSS JOIN LATERAL \(within("k.holder")) AS h (relid) \
                    CROSS JOIN LATERAL \(within("k.target")) AS d (relid))
                    """,
                joining: try referenced.all(as: .referenced, .all).join(on: pairs.joined(separator: " AND "))))
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
        let sources = try parameters.shardKeys(
            sources, of: step.destinationColumns, in: step.linkedEntity, by: step.comparison)
        let kept = isPartial ? try parameters.keys(deleted, of: entity.key, in: entity) : nil
        let others = try Others(step, isShown: isFiltered, &parameters)
        let shape = "deletion blockers \(step.source.index).\(step.relationship.slot) \(isPartial) \(isFiltered)"
        return try parameters.statement(shape, in: entity) {
            let (linked, alias) = (step.linkedEntity, step.helper == nil ? "t" : "h")
            let columns = try linked.texts.selectList(of: step.destinationColumns, alias: alias)
            let names = try step.destinationColumns.map { "\(alias).\(try linked.texts.quoted($0))" }.joined(
                separator: ", ")
            return """
                SELECT \(columns), count(*) FROM \(try others.rows.from(
                where: "\(try sources.condition(alias))\(try kept.map(exclusion) ?? "")", joining: try others.join)) \
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
        let sources = try parameters.shardKeys(
            sources, of: step.destinationColumns, in: step.linkedEntity, by: step.comparison)
        let kept = isPartial ? try parameters.keys(deleted, of: entity.key, in: entity) : nil
        let others = try Others(step, isShown: false, &parameters)
        let shape = "deletion nullify \(step.source.index).\(step.relationship.slot) \(isPartial)"
        return try parameters.statement(shape, in: entity) {
            let found = try others.condition(sources) + (try kept.map(exclusion) ?? "")
            guard entity.isChecked(.updateTriggers) else {
                return try others.rows.update(
                    set: try entity.texts.nulls(cleared), where: found,
                    returning: try entity.texts.selectList(alias: "t"))
            }
            // A trigger may give the rows another owner.
            let hasLeft = "(\(try others.condition(sources))) IS NOT TRUE"
            return try entity.texts.checkedRows(
                try others.rows.checkedUpdate(
                    set: try entity.texts.nulls(cleared), where: found, isRight: hasLeft, keepsKeys: !entity.key.isEmpty
                ))
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
            parts.append("DELETE FROM \(try entity.all(as: .row, .all).from(where: try keys.condition("t")))")
        }
        if parts.count == 1, keyless.isEmpty { return parameters.statement(StatementText(parts[0])) }
        for (step, sources) in keyless {
            let sources = try parameters.shardKeys(sources, of: step.destinationColumns, in: step.linkedEntity)
            let others = try Others(step, isShown: false, &parameters)
            parts.append("DELETE FROM \(try others.rows.from(where: try others.condition(sources)))")
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
            let rows = entity.all(as: .none, .all)
            guard entity.isChecked(.deleteTriggers) else { return "DELETE FROM \(try rows.from(where: found))" }
            return Self.checked(
                "\(try entity.all(as: .row, .all).found(where: found, isDeletion: true))",
                "DELETE FROM \(try rows.from(where: "\(found)\(CheckedWrite.afterFound)"))")
        }
    }

    /// A DELETE of several rows of one entity that deletes none if one of them is missing.
    private static func deleteAll(_ entity: EntityRuntime, _ rows: [VersionedKey]) throws -> Statement {
        var parameters = Parameters()
        let (keys, versioned) = try parameters.keys(rows.map(\.key), versions: rows.map(\.version), of: entity)
        let count = try parameters.count(rows.count)
        return try parameters.statement("delete all", in: entity) {
            let (rows, filter) = (entity.all(as: .row, .all), try keys.condition("t"))
            let version = try versioned.map { " AND \(try $0.exists("t"))" } ?? ""
            guard entity.isChecked(.deleteTriggers) else {
                return """
                    WITH locked AS MATERIALIZED (\
                    SELECT 1 FROM \(try rows.from(where: "\(filter)\(version)"))\(try entity.texts.locking("t"))) \
                    DELETE FROM \(try rows.from(where: "\(filter) AND (SELECT count(*) FROM locked) = \(count)"))
                    """
            }
            return Self.checked(
                "\(try rows.found(where: "\(filter)\(version)", isDeletion: true))",
                "DELETE FROM \(try rows.from(where: "\(filter) AND \(CheckedWrite.found) = \(count)"))",
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

    /// The rows at the other end of a step's sources, and how they are found.
    private struct Others {
        let step: DeletionStep
        /// The rows `t`; where a foreign key leads to them, without rows of inheriting tables.
        let rows: ScopedRows
        /// The helper's rows `h` that lead to them: a pair whose row is hidden leads to none.
        private let pairs: ScopedRows?

        /// - Parameter isShown: whether rows are left out that their filter hides.
        init(_ step: DeletionStep, isShown: Bool, _ parameters: inout Parameters) throws {
            self.step = step
            let isReferenced = step.helper != nil || step.relationship.holdsForeignKey
            let tables = isReferenced ? RowScope.Tables.own : .all
            rows =
                try isShown
                ? parameters.shown(step.destination, as: .row, tables) : step.destination.all(as: .row, tables)
            pairs = try step.helper.map { try parameters.shown($0.entity, as: .pair, .own) }
        }

        /// The condition for the rows at the other end of the sources.
        func condition(_ sources: KeySet) throws -> String {
            guard let helper = step.helper, let pairs else { return try sources.condition("t") }
            let member = helper.destinationColumns
            if helper.entity.hasOwnEquality(member) || step.relationship.comparison(of: member) != nil {
                let isLinked = try helper.isLinked("h", to: "t", of: step.relationship)
                return "EXISTS (SELECT FROM \(try pairs.from(where: "\(try sources.condition("h")) AND \(isLinked)")))"
            }
            let names = try step.relationship.otherColumns.map { try step.destination.texts.compared($0, alias: "t") }
            let columns = try helper.destinationColumns.map { try helper.entity.texts.compared($0, alias: "h") }
            return """
                (\(names.joined(separator: ", "))) IN (SELECT \(columns.joined(separator: ", ")) \
                FROM \(try pairs.from(where: try sources.condition("h"))))
                """
        }

        /// The join of the helper's rows, with a space before; nothing without a helper.
        var join: String {
            get throws {
                guard let helper = step.helper, let pairs else { return "" }
                return try pairs.join(on: try helper.isLinked("h", to: "t", of: step.relationship))
            }
        }
    }

    /// An anti-join, since a long list is slow to search in older servers.
    private static func exclusion(_ keys: KeySet) throws -> String {
        let pairs = try zip(keys.names, keys.columns).map {
            keys.entity.texts.equality(of: $1, "d.\($0)", try keys.entity.texts.compared($1, alias: "t"))
        }
        return " AND NOT EXISTS (SELECT FROM \(keys.table("d")) WHERE \(pairs.joined(separator: " AND ")))"
    }
}
