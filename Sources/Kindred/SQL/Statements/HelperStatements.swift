import KindredPostgres
import KindredSchema

/// The statements that change the rows of a helper table for one owner: the write side of a many-to-many relationship.
struct HelperStatements {
    let relationship: RelationshipRuntime
    let link: RelationshipRuntime.HelperLink
    /// The owner's values of the helper columns that reference it.
    let ownerValues: [PostgresValue]

    var helper: EntityRuntime { link.entity }

    /// The helper's columns that reference the member but not the owner.
    private var memberPositions: [Int] {
        link.destinationColumns.indices.filter { !link.sourceColumns.contains(link.destinationColumns[$0]) }
    }

    var memberColumns: [Int] { memberPositions.map { link.destinationColumns[$0] } }

    /// The key of a member in the helper, without the columns that both ends share.
    func memberKey(_ values: [PostgresValue]) -> ObjectKey {
        ObjectKey(memberPositions.map { values[$0] })
    }

    /// `INSERT INTO helper … ON CONFLICT DO NOTHING`, or, with payload, DO UPDATE of the payload columns, which returns
    /// the rows.
    ///
    /// - Parameter checks: the checks that the statement makes of itself.
    func insert(_ keys: [ObjectKey], payload: ColumnValues?, checks: Checks = .nothing) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(ownerValues, of: link.sourceColumns, in: helper)
        let members = try parameters.keys(keys, of: memberColumns, in: helper)
        let given = try payload.map { try parameters.values($0) }
        let columns = given?.columns ?? []
        return try parameters.statement(
            "insert \(relationship.source.index).\(relationship.slot) \(columns) \(checks)", in: helper
        ) {
            // The other end's order, if it has one, gets the pair at its end.
            let ends = link.positions.filter { !columns.contains($0.column) }
            let tenant = try helper.tenantAssignment(besides: link.sourceColumns + memberColumns + columns)
            let names =
                try (link.sourceColumns + memberColumns + columns + ends.map(\.column)).map { try helper.quoted($0) }
                + tenant.names
            func value(_ column: Int) -> String {
                if let place = memberColumns.firstIndex(of: column) { return "member.m\(place)" }
                return owner[column]?.description ?? "NULL"
            }
            let places = try ends.map { try helper.endPosition($0.column, ownerColumns: $0.ownerColumns, value: value) }
            let values = owner.list + ["member.*"] + (given?.list ?? []) + places + tenant.values
            let pair = try link.pairColumns.map { try helper.quoted($0) }.joined(separator: ", ")
            let update = try columns.map { "\(try helper.quoted($0)) = excluded.\(try helper.quoted($0))" }
            let conflict =
                update.isEmpty
                ? "NOTHING"
                : try helper.updateOnConflict(set: update, as: .pair)
            let source = members.table("member", names: "m")
            let placing = try helper.placing(ends, through: link, from: source, value: value)
            let insert = """
                \(try helper.insertion(as: .pair)) (\(names.joined(separator: ", "))) \
                SELECT \(values.joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO \(conflict)
                """
            if checks == .nothing {
                return placing + insert + (update.isEmpty ? "" : " RETURNING \(try helper.selectList(alias: "h"))")
            }
            let before = placing.isEmpty ? "" : "\(placing.dropFirst("WITH ".count).dropLast()), "
            let (isPair, pairs) = (try isPair(owner, members), helper.all(as: .pair, .own))
            let written = try helper.written(insert, alias: "h", isRight: "\(isPair)\(try pairs.clause)")
            if checks == .storedPairs {
                return try helper.checkedRows("\(before)\(written)", expecting: CheckedWrite.allWritten)
            }
            // With payload all rows are returned, without it only the missing rows.
            let existing = "existing AS MATERIALIZED (SELECT FROM \(try pairs.from(where: isPair)))"
            let count = members.cardinality
            // A trigger may have made another pair of one that exists.
            let others = "(SELECT count(*) FROM written WHERE NOT \(CheckedWrite.isRight))"
            return try helper.checkedRows(
                "\(before)\(existing), \(written)",
                expecting: update.isEmpty ? "(\(count) - (SELECT count(*) FROM existing) + \(others))" : count)
        }
    }

    /// The checks that an INSERT of pairs makes of itself.
    enum Checks {
        case nothing
        /// That it stores no other pairs than the given ones.
        case storedPairs
        /// That, and that each of them is stored now.
        case allPairs
    }

    /// Whether an INSERT of pairs checks itself.
    func isChecked(_ payload: ColumnValues?) -> Bool { helper.isChecked(Self.triggers(payload != nil)) }

    /// Whether triggers, rules or policies may keep pairs from being stored.
    func mayKeepRows(_ payload: ColumnValues?) -> Bool { helper.mayKeepRows(Self.triggers(payload != nil)) }

    /// The triggers of an INSERT of pairs.
    static func triggers(_ hasPayload: Bool) -> RowObstacles {
        hasPayload ? [.insertTriggers, .updateTriggers] : .insertTriggers
    }

    /// The condition for the pairs `h` of the owner and the given members.
    private func isPair(_ owner: ColumnParameters, _ members: KeySet) throws -> String {
        "\(try owner.equality("h")) AND \(try members.condition("h"))"
    }

    /// A query that fails unless all pairs are stored.
    ///
    /// Unlike the INSERT, it sees pairs that another transaction has stored at the same time.
    func check(_ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(ownerValues, of: link.sourceColumns, in: helper)
        let members = try parameters.keys(keys, of: memberColumns, in: helper)
        return try parameters.statement("check \(relationship.source.index).\(relationship.slot)", in: helper) {
            """
            WITH written AS MATERIALIZED (\
            SELECT true AS \(CheckedWrite.isRight) \
            FROM \(try helper.all(as: .pair, .own).from(where: try isPair(owner, members)))) \
            SELECT WHERE \(CheckedWrite.condition(expecting: members.cardinality))
            """
        }
    }

    /// `DELETE FROM helper` of the given members, of all others, or of all; with rules, a query that fails unless they are
    /// gone follows.
    ///
    /// Pairs of members that are not given, and that their filter hides, stay.
    func deletion(_ which: Which) throws -> [Statement] {
        try [delete(which)] + (helper.hasRules ? [delete(which, isCheck: true)] : [])
    }

    private func delete(_ which: Which, isCheck: Bool = false) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(ownerValues, of: link.sourceColumns, in: helper)
        var member: ColumnParameters?
        var members: KeySet?
        switch which {
        case .all: break
        case .members(let keys) where keys.count == 1:
            // For a list of one the planner may choose to filter all pairs of an owner that its statistics do not know
            // yet.
            member = try parameters.values(keys[0].values, of: memberColumns, in: helper)
        case .members(let keys), .others(let keys):
            members = try parameters.keys(keys, of: memberColumns, in: helper)
        }
        let links = which.isGiven ? try parameters.allLinks(relationship) : try parameters.shownLinks(relationship)
        return try parameters.statement(
            "delete \(relationship.source.index).\(relationship.slot) \(which.shape) \(isCheck)", in: helper
        ) {
            var found = try owner.equality("t")
            if let member { found += " AND \(try member.equality("t"))" }
            if let members { found += " AND \(which.isNegated ? "NOT " : "")\(try members.condition("t"))" }
            found += try links.memberClause
            if isCheck { return try links.rows.absence(of: found) }
            guard helper.isChecked(.deleteTriggers) else {
                return "DELETE FROM \(try links.rows.from(where: found)) RETURNING \(try helper.selectList(alias: "t"))"
            }
            let delete = "DELETE FROM \(try links.rows.from(where: "\(found)\(EntityRuntime.afterFound)"))"
            return try helper.checkedRows(
                """
                \(try links.rows.found(where: found, isDeletion: true)), \
                \(try helper.written(delete, alias: "t", isRight: "true"))
                """)
        }
    }

    enum Which {
        case members([ObjectKey])
        case others([ObjectKey])
        case all

        fileprivate var shape: String {
            switch self {
            case .members(let keys): keys.count == 1 ? "member" : "members"
            case .others: "others"
            case .all: "all"
            }
        }

        fileprivate var isGiven: Bool {
            if case .members = self { true } else { false }
        }

        fileprivate var isNegated: Bool {
            if case .others = self { true } else { false }
        }
    }
}

extension HelperStatements {
    /// A query that fails unless any number of a relationship's pairs are stored.
    static func check(
        _ rows: [Row], of helper: EntityRuntime, _ link: RelationshipRuntime.HelperLink
    ) throws -> Statement {
        var parameters = Parameters()
        let pairs = try parameters.rows(rows, of: link.pairColumns, in: helper, prefix: "c")
        let count = try parameters.count(rows.count)
        return try parameters.statement("check pairs \(link.pairColumns)", in: helper) {
            """
            WITH written AS MATERIALIZED (SELECT true AS \(CheckedWrite.isRight) \
            FROM \(pairs.table)\(try helper.all(as: .pair, .own).join(on: try pairs.equality("h")))) \
            SELECT WHERE \(CheckedWrite.condition(expecting: count.description))
            """
        }
    }

    /// Any number of a relationship's pairs: `INSERT INTO helper … ON CONFLICT DO NOTHING`, or, with payload, DO UPDATE
    /// of the payload columns.
    static func insert(
        _ rows: [Row], into helper: EntityRuntime, _ link: RelationshipRuntime.HelperLink, payload payloadColumns: [Int]
    ) throws -> Statement {
        let columns = link.pairColumns + payloadColumns
        var parameters = Parameters()
        let values = try parameters.rows(rows, of: columns, in: helper, prefix: "c")
        return try parameters.statement("save pairs \(link.pairColumns) \(payloadColumns)", in: helper) {
            // Pairs join the end of an order, one after the other.
            let ends = link.positions.filter { !payloadColumns.contains($0.column) }
            let tenant = try helper.tenantAssignment(besides: columns)
            let names = try (columns + ends.map(\.column)).map { try helper.quoted($0) } + tenant.names
            let given = values.expressions
            func value(_ column: Int) -> String { columns.firstIndex(of: column).map { given[$0] } ?? "NULL" }
            let places = try ends.map { end in
                """
                \(try helper.endPosition(end.column, ownerColumns: end.ownerColumns, value: value)) - 1 + row_number() \
                OVER (PARTITION BY \(end.ownerColumns.map(value).joined(separator: ", ")) ORDER BY new.place)
                """
            }
            let pair = try link.pairColumns.map { try helper.quoted($0) }.joined(separator: ", ")
            let update = try payloadColumns.map { "\(try helper.quoted($0)) = excluded.\(try helper.quoted($0))" }
            let conflict =
                update.isEmpty
                ? "NOTHING"
                : try helper.updateOnConflict(set: update, as: .pair)
            let source = values.placedTable
            let placing = try helper.placing(ends, through: link, from: source, value: value)
            let insert = """
                \(try helper.insertion(as: .pair)) (\(names.joined(separator: ", "))) \
                SELECT \((given + places + tenant.values).joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO \(conflict)
                """
            guard helper.isChecked(HelperStatements.triggers(!payloadColumns.isEmpty)) else { return placing + insert }
            // Fails where it stores another pair than one of the given.
            let stored = try link.pairColumns.map { try helper.compared($0, alias: "h") }.joined(separator: ", ")
            let wanted = zip(link.pairColumns, given).map { helper.compared($0, with: $1) }.joined(separator: ", ")
            let isRight = "((\(stored)) IN (SELECT \(wanted) FROM \(source))) IS TRUE"
            return """
                \(placing.isEmpty ? "WITH " : "\(placing.dropLast()), ")\
                written AS (\(insert) RETURNING \(isRight) AS \(CheckedWrite.isRight)) \
                SELECT 1 FROM written WHERE \(CheckedWrite.condition(expecting: CheckedWrite.allWritten))
                """
        }
    }
}
