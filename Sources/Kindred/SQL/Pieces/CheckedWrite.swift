import KindredPostgres
import KindredSchema

/// A write that checks itself: if a trigger or policy kept a row that it found, or stored another row than was asked
/// for, the statement fails, so that none of its effects stay.
///
/// The write is the CTE `written` of a query whose condition holds no column, so that it is evaluated once, also where
/// nothing was written. It holds counts, so that the planner cannot evaluate it early. If they differ, it casts a text to
/// boolean: an error that needs no function in the database. `KeptRows` recognises that text.
enum CheckedWrite {
    static let marker = "kindred: kept rows, wrote "
    /// The column of `written` that tells whether a row is as it was asked for.
    static let isRight = "\"kindred: right\""
    static let found = "(SELECT count(*) FROM found)"
    /// The condition with which a write finds its rows after `found` has locked them.
    static let afterFound = " AND \(found) IS NOT NULL"
    static let allWritten = "(SELECT count(*) FROM written)"

    /// The condition that fails unless as many rows are right as expected.
    static func condition(expecting expected: String = found, unless exception: String = "") -> String {
        let written = "(SELECT count(*) FROM written WHERE \(isRight))"
        return """
            CASE WHEN \(written) = \(expected) THEN true \(exception)\
            ELSE ('\(marker)' || \(written) || ' of ' || \(expected))::boolean END
            """
    }
}

/// The rows that a trigger, rule or policy kept, from the error of a write that checks itself.
struct KeptRows {
    let written: Int
    let expected: Int

    init?(_ error: PostgresError?) {
        guard let error, error.sqlState == .invalidTextRepresentation, let message = error.server?.message,
            let start = message.firstRange(of: CheckedWrite.marker)
        else { return nil }
        let numbers = message[start.upperBound...].split { !("0"..."9").contains($0) }.compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        (written, expected) = (numbers[0], numbers[1])
    }
}

extension EntityRuntime {
    /// Whether a write of rows checks itself, because the table has triggers of such writes, or policies.
    ///
    /// Tables with rules take no writes in a WITH: they are written in a transaction.
    func isChecked(_ triggers: RowObstacles) -> Bool {
        let obstacles = entity.obstacles
        if obstacles.contains(.rules) { return false }
        // An UPDATE of a partitioned table, also below a view, may delete a row and insert it into another partition.
        let isMoving = (entity.kind == .partitionedTable || entity.isView) && triggers.contains(.updateTriggers)
        return !obstacles.isDisjoint(with: [isMoving ? .triggers : triggers, .policies])
    }

    /// Whether rules may put a write's rows elsewhere, so that it needs a transaction.
    var hasRules: Bool { entity.obstacles.contains(.rules) }

    /// Whether triggers, rules or policies may keep the rows of a write.
    func mayKeepRows(_ triggers: RowObstacles) -> Bool { hasRules || isChecked(triggers) }

    /// Whether the rows that a checked write finds are locked.
    var locksFound: Bool {
        !entity.isView && !entity.obstacles.contains(.policies) && entity.privileges.contains(.update)
    }
}

// Pieces for writes of rows `t`.
extension ScopedRows {
    /// The rows that a write finds, with their keys, as the CTE `found`.
    ///
    /// Locked, so that another transaction cannot change them before the write does, unless the lock would hide rows by
    /// policies of UPDATE, needs a privilege that the role lacks, or is impossible for the view's query.
    func found(where condition: String, isDeletion: Bool = false) throws -> String {
        let keys = try entity.key.enumerated().map { "t.\(try entity.texts.quoted($1)) AS k\($0)" }.joined(
            separator: ", ")
        let lock =
            entity.locksFound
            ? "\(try entity.texts.orderToLock("t"))\(isDeletion ? " FOR UPDATE" : " FOR NO KEY UPDATE")" : ""
        return "found AS MATERIALIZED (SELECT \(keys) FROM \(try from(where: condition))\(lock))"
    }

    /// A query that fails if there are rows of a condition.
    func absence(of condition: String) throws -> String {
        """
        WITH written AS MATERIALIZED (\
        SELECT true AS \(CheckedWrite.isRight) FROM \(try from(where: condition))) \
        SELECT WHERE \(CheckedWrite.condition(expecting: "0"))
        """
    }

    /// The CTEs `found` and `written` of an UPDATE that checks itself.
    ///
    /// - Parameters:
    ///   - isRight: the condition for the changed rows.
    ///   - keepsKeys: whether the rows must keep their keys, by which their objects are found.
    func checkedUpdate(
        set: [String], where condition: String, isRight: String, keepsKeys: Bool
    ) throws -> String {
        var right = "(\(isRight))\(try tenantClause)"
        if keepsKeys {
            right += " AND EXISTS (SELECT FROM found WHERE \(try entity.texts.same("t", as: "found")))"
        }
        let update = try update(set: set, where: "(\(condition))\(CheckedWrite.afterFound)", returning: nil)
        return "\(try found(where: condition)), \(try entity.texts.written(update, alias: "t", isRight: right))"
    }
}

// Rows of writes that check themselves.
extension EntityTexts {
    /// The attributes of the rows of the CTE `written`.
    var writtenColumns: String {
        get throws {
            try entity.attributeColumns.map { column in
                let name = "written.\(try quoted(column))"
                return entity.lazyColumns.contains(column) ? entity.entity.attributes[column].leftOut(name) : name
            }.joined(separator: ", ")
        }
    }

    /// The query that returns the rows of a checked write.
    func checkedRows(_ sources: String, expecting expected: String = CheckedWrite.found) throws -> String {
        "WITH \(sources) SELECT \(try writtenColumns) FROM written WHERE \(CheckedWrite.condition(expecting: expected))"
    }

    /// `"id" IS NOT NULL`: whether a returned row has a key, which one of a view's trigger may lack.
    func hasKey(alias: String) throws -> String {
        try entity.key.map { "\(alias).\(try quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
    }

    /// An INSERT or UPDATE with its RETURNING clause as the CTE `written`.
    func written(_ write: String, alias: String, isRight: String) throws -> String {
        let right = "(\(isRight)) IS TRUE AS \(CheckedWrite.isRight)"
        return "written AS (\(write) RETURNING \(try namedList(alias: alias)), \(right))"
    }

    /// Every attribute under its name; lazy attributes without their values.
    func namedList(alias: String) throws -> String {
        if entity.lazyColumns.isEmpty { return try selectList(alias: alias) }
        return try entity.attributeColumns.map { column in
            if !entity.lazyColumns.contains(column) { return try selectList(of: [column], alias: alias) }
            let name = try quoted(column)
            return entity.entity.attributes[column].leftOut("\(alias).\(name)", as: name)
        }.joined(separator: ", ")
    }
}
