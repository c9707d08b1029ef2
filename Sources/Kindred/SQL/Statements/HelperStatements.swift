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
    /// the rows; where the helper's rows are marked as deleted, DO UPDATE takes the mark back.
    ///
    /// - Parameter checks: the checks that the statement makes of itself.
    func insert(_ keys: [ObjectKey], payload: ColumnValues?, checks: Checks = .nothing) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: link.sourceColumns, in: helper, by: relationship.comparison(of: link.sourceColumns))
        let members = try parameters.keys(
            keys, of: memberColumns, in: helper, by: relationship.comparison(of: memberColumns))
        let given = try payload.map { try parameters.values($0) }
        let columns = given?.columns ?? []
        let shown = checks == .nothing ? helper.all(as: .pair, .own) : try parameters.shown(helper, as: .pair, .own)
        return try parameters.statement(
            "insert \(relationship.source.index).\(relationship.slot) \(columns) \(checks)", in: helper
        ) {
            // The other end's order, if it has one, gets the pair at its end.
            let ends = link.positions.filter { !columns.contains($0.column) }
            let tenant = try helper.texts.tenantAssignment(besides: link.sourceColumns + memberColumns + columns)
            let names =
                try (link.sourceColumns + memberColumns + columns + ends.map(\.column)).map {
                    try helper.texts.quoted($0)
                }
                + tenant.names
            func value(_ column: Int) -> String {
                if let place = memberColumns.firstIndex(of: column) { return "member.m\(place)" }
                return owner[column]?.description ?? "NULL"
            }
            let places = try ends.map {
                try helper.texts.endPosition($0.column, ownerColumns: $0.ownerColumns, value: value)
            }
            let values = owner.list + ["member.*"] + (given?.list ?? []) + places + tenant.values
            let pair = try link.pairColumns.map { try helper.texts.quoted($0) }.joined(separator: ", ")
            let conflict = try helper.texts.onPairConflict(setting: columns)
            let source = members.table("member", names: "m")
            let placing = try helper.texts.placing(ends, through: link, from: source, value: value)
            let insert = """
                \(try helper.texts.insertion(as: .pair)) (\(names.joined(separator: ", "))) \
                SELECT \(values.joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO \(conflict)
                """
            if checks == .nothing {
                let isReturned = !columns.isEmpty || helper.restoresPairs
                return placing + insert + (isReturned ? " RETURNING \(try helper.texts.selectList(alias: "h"))" : "")
            }
            let before = placing.isEmpty ? "" : "\(placing.dropFirst("WITH ".count).dropLast()), "
            let isPair = try isPair(owner, members)
            let written = try helper.texts.written(insert, alias: "h", isRight: "\(isPair)\(try shown.clause)")
            if checks == .storedPairs {
                return try helper.texts.checkedRows("\(before)\(written)", expecting: CheckedWrite.allWritten)
            }
            // With payload all rows are returned, without it only rows that were no pairs.
            let existing = "existing AS MATERIALIZED (SELECT FROM \(try shown.from(where: isPair)))"
            let count = members.cardinality
            // A trigger may have changed an existing pair into another pair.
            let others = "(SELECT count(*) FROM written WHERE NOT \(CheckedWrite.isRight))"
            return try helper.texts.checkedRows(
                "\(before)\(existing), \(written)",
                expecting: columns.isEmpty ? "(\(count) - (SELECT count(*) FROM existing) + \(others))" : count)
        }
    }

    /// The checks that an INSERT of pairs makes of itself.
    enum Checks {
        case nothing
        /// Checks that it stores no pairs besides the given pairs.
        case storedPairs
        /// Checks that it stores exactly the given pairs, and that each is stored now.
        case allPairs
    }

    /// Whether an INSERT of pairs checks itself.
    func isChecked(_ payload: ColumnValues?) -> Bool {
        helper.isChecked(helper.pairTriggers(payload != nil)) || link.mayHidePairs && !helper.hasRules
    }

    /// Whether triggers, rules or policies may keep pairs from being stored, or other rows be in their way.
    func mayKeepRows(_ payload: ColumnValues?) -> Bool { link.mayKeepRows(payload != nil) }

    /// The condition for the pairs `h` of the owner and the given members.
    private func isPair(_ owner: ColumnParameters, _ members: KeySet) throws -> String {
        "\(try owner.equality("h")) AND \(try members.condition("h"))"
    }

    /// A query that fails unless all pairs are stored and shown.
    ///
    /// Unlike the INSERT, it sees pairs that another transaction has stored at the same time.
    func check(_ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: link.sourceColumns, in: helper, by: relationship.comparison(of: link.sourceColumns))
        let members = try parameters.keys(
            keys, of: memberColumns, in: helper, by: relationship.comparison(of: memberColumns))
        let shown = try parameters.shown(helper, as: .pair, .own)
        return try parameters.statement("check \(relationship.source.index).\(relationship.slot)", in: helper) {
            """
            WITH written AS MATERIALIZED (\
            SELECT true AS \(CheckedWrite.isRight) \
            FROM \(try shown.from(where: try isPair(owner, members)))) \
            SELECT WHERE \(CheckedWrite.condition(expecting: members.cardinality))
            """
        }
    }

    /// `DELETE FROM helper` of the given members, of all other members, or of all, or an UPDATE that marks their rows
    /// where the helper has a mark; with rules, a query that fails unless they are gone follows.
    ///
    /// Rows that the helper's filter hides stay, and so do pairs of members that are not given and that the members'
    /// filter hides.
    func deletion(_ which: Which) throws -> [Statement] {
        try [delete(which)] + (helper.hasRules ? [delete(which, isCheck: true)] : [])
    }

    private func delete(_ which: Which, isCheck: Bool = false) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: link.sourceColumns, in: helper, by: relationship.comparison(of: link.sourceColumns))
        var member: ColumnParameters?
        var members: KeySet?
        switch which {
        case .all: break
        case .members(let keys) where keys.count == 1:
            // For a list of one the planner may choose to filter all pairs of an owner that its statistics do not know
            // yet.
            member = try parameters.values(
                keys[0].values, of: memberColumns, in: helper, by: relationship.comparison(of: memberColumns))
        case .members(let keys), .others(let keys):
            members = try parameters.keys(
                keys, of: memberColumns, in: helper, by: relationship.comparison(of: memberColumns))
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
            if let mark = helper.deletionMark { return try marking(links.rows, where: found, at: mark) }
            guard helper.isChecked(.deleteTriggers) else {
                return
                    "DELETE FROM \(try links.rows.from(where: found)) RETURNING \(try helper.texts.selectList(alias: "t"))"
            }
            let delete = "DELETE FROM \(try links.rows.from(where: "\(found)\(CheckedWrite.afterFound)"))"
            return try helper.texts.checkedRows(
                """
                \(try links.rows.found(where: found, isDeletion: true)), \
                \(try helper.texts.written(delete, alias: "t", isRight: "true"))
                """)
        }
    }

    /// An UPDATE that marks rows of pairs as deleted.
    private func marking(_ rows: ScopedRows, where found: String, at mark: Int) throws -> String {
        let column = try helper.texts.quoted(mark)
        let set = ["\(column) = now()::\(helper.texts.markType)"]
        guard helper.isChecked(.updateTriggers) else {
            return try rows.update(set: set, where: found, returning: try helper.texts.selectList(alias: "t"))
        }
        return try helper.texts.checkedRows(
            try rows.checkedUpdate(
                set: set, where: found, isRight: "t.\(column) IS NOT NULL", keepsKeys: !helper.key.isEmpty))
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
    /// A query that fails unless any number of a relationship's pairs are stored and shown.
    static func check(
        _ rows: [Row], of helper: EntityRuntime, _ link: RelationshipRuntime.HelperLink
    ) throws -> Statement {
        var parameters = Parameters()
        let pairs = try parameters.rows(rows, of: link.pairColumns, in: helper, prefix: "c")
        let count = try parameters.count(rows.count)
        let shown = try parameters.shown(helper, as: .pair, .own)
        return try parameters.statement("check pairs \(link.pairColumns)", in: helper) {
            """
            WITH written AS MATERIALIZED (SELECT true AS \(CheckedWrite.isRight) \
            FROM \(pairs.table)\(try shown.join(on: try pairs.equality("h")))) \
            SELECT WHERE \(CheckedWrite.condition(expecting: count.description))
            """
        }
    }

    /// Any number of a relationship's pairs: `INSERT INTO helper … ON CONFLICT DO NOTHING`, or, with payload, DO UPDATE
    /// of the payload columns; where rows are marked as deleted, DO UPDATE takes the mark back and returns the rows.
    static func insert(
        _ rows: [Row], into helper: EntityRuntime, _ link: RelationshipRuntime.HelperLink, payload payloadColumns: [Int]
    ) throws -> Statement {
        let columns = link.pairColumns + payloadColumns
        var parameters = Parameters()
        let values = try parameters.rows(rows, of: columns, in: helper, prefix: "c")
        return try parameters.statement("save pairs \(link.pairColumns) \(payloadColumns)", in: helper) {
            // Pairs join the end of an order, one after the other.
            let ends = link.positions.filter { !payloadColumns.contains($0.column) }
            let tenant = try helper.texts.tenantAssignment(besides: columns)
            let names = try (columns + ends.map(\.column)).map { try helper.texts.quoted($0) } + tenant.names
            let given = values.expressions
            func value(_ column: Int) -> String { columns.firstIndex(of: column).map { given[$0] } ?? "NULL" }
            let places = try ends.map { end in
                """
                \(try helper.texts.endPosition(end.column, ownerColumns: end.ownerColumns, value: value)) - 1 + row_number() \
                OVER (PARTITION BY \(end.ownerColumns.map(value).joined(separator: ", ")) ORDER BY new.place)
                """
            }
            let pair = try link.pairColumns.map { try helper.texts.quoted($0) }.joined(separator: ", ")
            let conflict = try helper.texts.onPairConflict(setting: payloadColumns)
            let source = values.placedTable
            let placing = try helper.texts.placing(ends, through: link, from: source, value: value)
            let insert = """
                \(try helper.texts.insertion(as: .pair)) (\(names.joined(separator: ", "))) \
                SELECT \((given + places + tenant.values).joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO \(conflict)
                """
            guard helper.isChecked(helper.pairTriggers(!payloadColumns.isEmpty)) else {
                return placing + insert
                    + (helper.restoresPairs ? " RETURNING \(try helper.texts.selectList(alias: "h"))" : "")
            }
            // Fails where it stores another pair than one of the given.
            let stored = try link.pairColumns.map { try helper.texts.compared($0, alias: "h") }.joined(separator: ", ")
            let wanted = zip(link.pairColumns, given).map { helper.texts.compared($0, with: $1) }.joined(
                separator: ", ")
            let pairs = try zip(link.pairColumns, given).map { try helper.texts.equality($0, alias: "h", to: $1) }
            let isRight =
                helper.hasOwnEquality(link.pairColumns)
                ? "EXISTS (SELECT FROM \(source) WHERE \(pairs.joined(separator: " AND ")))"
                : "((\(stored)) IN (SELECT \(wanted) FROM \(source))) IS TRUE"
            if helper.restoresPairs {
                let before = placing.isEmpty ? "" : "\(placing.dropFirst("WITH ".count).dropLast()), "
                let written = try helper.texts.written(insert, alias: "h", isRight: isRight)
                return try helper.texts.checkedRows("\(before)\(written)", expecting: CheckedWrite.allWritten)
            }
            return """
                \(placing.isEmpty ? "WITH " : "\(placing.dropLast()), ")\
                written AS (\(insert) RETURNING \(isRight) AS \(CheckedWrite.isRight)) \
                SELECT 1 FROM written WHERE \(CheckedWrite.condition(expecting: CheckedWrite.allWritten))
                """
        }
    }
}

extension RelationshipRuntime.HelperLink {
    /// Whether triggers, rules or policies may keep pairs from being stored, or other rows be in their way.
    func mayKeepRows(_ hasPayload: Bool) -> Bool { mayHidePairs || entity.mayKeepRows(entity.pairTriggers(hasPayload)) }

    /// Whether new pairs with values for some other columns may be stored in any order.
    func mayReorderPairs(with columns: [Int]) -> Bool { entity.mayReorderNewRows(with: pairColumns + columns) }
}

extension EntityRuntime {
    /// Whether an INSERT of a pair takes the mark back of a row that is marked as deleted.
    var restoresPairs: Bool { deletionMark.map { entity.mayUpdate(entity.attributes[$0].name) } ?? false }

    /// The triggers of an INSERT of pairs.
    func pairTriggers(_ hasPayload: Bool) -> RowObstacles {
        hasPayload || restoresPairs ? [.insertTriggers, .updateTriggers] : .insertTriggers
    }
}

extension EntityTexts {
    /// The action of an INSERT of pairs, after DO, where a row has the key already: it stores the payload, and takes a mark back.
    ///
    /// - Parameter columns: the columns that get the new row's values.
    func onPairConflict(setting columns: [Int]) throws -> String {
        var set = try columns.map { "\(try quoted($0)) = excluded.\(try quoted($0))" }
        var condition: String?
        if entity.restoresPairs, let mark = entity.deletionMark, !columns.contains(mark) {
            set.append("\(try quoted(mark)) = NULL")
            if columns.isEmpty { condition = "h.\(try quoted(mark)) IS NOT NULL" }
        }
        return set.isEmpty ? "NOTHING" : try updateOnConflict(set: set, as: .pair, where: condition)
    }
}
