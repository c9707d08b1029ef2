import KindredPostgres
import KindredSchema

/// The statements that read and write the order of one owner's members.
///
/// The rows that hold the positions are the members themselves, or the helper's.
struct OrderStatements {
    let relationship: RelationshipRuntime
    let position: Int
    /// The entity whose rows hold the positions.
    let rows: EntityRuntime
    /// Its columns that reference the owner, and their values.
    let ownerColumns: [Int]
    let ownerValues: [PostgresValue]
    /// Its columns that identify the member of a row.
    let memberColumns: [Int]

    /// A member's row and its position.
    struct Place {
        let key: ObjectKey
        let position: Int64
    }

    /// The column of `read` that tells whether the member is shown; nil if all are.
    var shownColumn: Int? { relationship.hidesLinks ? memberColumns.count + 1 : nil }

    /// The column of `read`, or of `readEnd`, that tells whether the helper's row is shown; nil if all are.
    func pairColumn(isEnd: Bool) -> Int? { relationship.hidesPairs ? memberColumns.count + (isEnd ? 1 : 2) : nil }

    /// `SELECT … FOR NO KEY UPDATE` of the owner: serializes changes of one order.
    static func lock(_ owner: ObjectKey, of entity: EntityRuntime) throws -> Statement {
        var parameters = Parameters()
        let row = try parameters.key(owner, of: entity)
        return try parameters.statement("lock for order", in: entity) {
            "SELECT FROM \(try entity.all(as: .none, .all).from(where: try row.equality())) FOR NO KEY UPDATE"
        }
    }

    /// All members in order, with their positions; where there is a filter, with whether it shows them.
    func read() throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: ownerColumns, in: rows, by: relationship.comparison(of: ownerColumns))
        let shown = try parameters.shownLinks(relationship)
        return try parameters.statement(shape("read order"), in: rows) {
            let isShown = shownColumn == nil ? [] : [try shown.isShown]
            let isPair = relationship.hidesPairs ? [try shown.isPair] : []
            return
                "\(try list(isShown + isPair)) FROM \(try allRows.from(where: try owner.equality("t"))) \(try order())"
        }
    }

    /// The last member with a position and all members without one, in order, and which of some keys are members.
    func readEnd(_ keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: ownerColumns, in: rows, by: relationship.comparison(of: ownerColumns))
        let members = try parameters.keys(
            keys, of: memberColumns, in: rows, by: relationship.comparison(of: memberColumns))
        let shown = try parameters.shownLinks(relationship)
        return try parameters.statement(shape("read end of order"), in: rows) {
            let isOwned = try owner.equality("t")
            let column = "t.\(try rows.texts.quoted(position))"
            let isShown = shownColumn == nil ? "" : " AND \(try shown.isShown)"
            let last = "SELECT max(\(column)) FROM \(try allRows.from(where: isOwned))"
            let found = "(\(column) IS NULL\(isShown) OR \(try members.condition("t")) OR \(column) = (\(last)))"
            let isPair = relationship.hidesPairs ? [try shown.isPair] : []
            return "\(try list(isPair)) FROM \(try allRows.from(where: "\(isOwned) AND \(found)")) \(try order())"
        }
    }

    private func list(_ more: [String]) throws -> String {
        // Keys are read in the form in which they are written, for any width of integer.
        let columns = try memberColumns.map { column in
            let isText = rows.entity.attributes[column].isReadAsText
            return "t.\(try rows.texts.quoted(column))\(isText ? "::text" : "")"
        }
        return "SELECT \((columns + ["t.\(try rows.texts.quoted(position))"] + more).joined(separator: ", "))"
    }

    private func order() throws -> String {
        let columns =
            try ["t.\(rows.texts.quoted(position)) NULLS LAST"] + memberColumns.map { "t.\(try rows.texts.quoted($0))" }
        return "ORDER BY \(columns.joined(separator: ", "))"
    }

    /// `UPDATE … FROM unnest(…)`: sets the members' positions, and the owner of joining members.
    ///
    /// Rows that left the owner meanwhile stay unchanged. The result's last column is the row's index among all given
    /// rows, staying rows first; where it is checked, whether the row is the owner's follows.
    func place(_ staying: [Place], joining: [Place] = [], columns joiningColumns: [Int] = []) throws -> Statement {
        let joined = joining.isEmpty ? [] : joiningColumns
        let all = staying + joining
        var parameters = Parameters()
        let members = try parameters.keys(
            all.map(\.key), of: memberColumns, in: rows, by: relationship.comparison(of: memberColumns))
        let positions = try parameters.numbers(all.lazy.map(\.position))
        let owner = try parameters.values(
            ownerValues, of: ownerColumns, in: rows, by: relationship.comparison(of: ownerColumns))
        let stayingCount = joined.isEmpty ? nil : try parameters.count(staying.count)
        return try parameters.statement(shape("place \(joined)"), in: rows) {
            var set = ["\(try rows.texts.quoted(position)) = new.position"]
            for column in joined {
                if let value = owner[column] { set.append("\(try rows.texts.quoted(column)) = \(value)") }
            }
            let isOwners = try owner.equality("t")
            let isOwned = stayingCount.map { "(\(isOwners) OR new.place > \($0))" } ?? isOwners
            let given = ColumnArrays.placedTable(
                members.arrays + [positions.description], names: members.names + ["position"])
            let owned = mayKeepRows ? ", (\(isOwners)) IS TRUE" : ""
            return try allRows.update(
                set: set, from: given, where: "\(try members.equality("t", to: "new")) AND \(isOwned)",
                returning: "\(try rows.texts.selectList(alias: "t")), new.place\(owned)")
        }
    }

    /// `INSERT INTO helper …`: pairs with their positions; an existing pair gets position and payload.
    func insert(_ pairs: [Place], payload: ColumnValues?, _ link: RelationshipRuntime.HelperLink) throws -> Statement {
        let columns = payload?.columns ?? []
        // In the other end's order the pairs join the end.
        let others = link.positions.filter { $0.column != position && !columns.contains($0.column) }
        var parameters = Parameters()
        let members = try parameters.keys(
            pairs.map(\.key), of: memberColumns, in: rows, by: relationship.comparison(of: memberColumns))
        let positions = try parameters.numbers(pairs.lazy.map(\.position))
        let owner = try parameters.values(
            ownerValues, of: ownerColumns, in: rows, by: relationship.comparison(of: ownerColumns))
        let given = try payload.map { try parameters.values($0) }
        return try parameters.statement(shape("insert placed \(columns)"), in: rows) {
            func value(_ column: Int) -> String {
                if let place = memberColumns.firstIndex(of: column) { return "new.k\(place)" }
                return owner[column]?.description ?? "NULL"
            }
            let written = ownerColumns + memberColumns + [position] + columns
            let values = owner.list + memberColumns.map(value) + ["new.position"] + (given?.list ?? [])
            let ends = try others.map {
                try rows.texts.endPosition($0.column, ownerColumns: $0.ownerColumns, value: value)
            }
            let pair = try link.pairColumns.map { try rows.texts.quoted($0) }.joined(separator: ", ")
            let tenant = try rows.texts.tenantAssignment(besides: written)
            let quoted = try (written + others.map(\.column)).map { try rows.texts.quoted($0) } + tenant.names
            let source = """
                unnest(\((members.arrays + [positions.description]).joined(separator: ", "))) \
                AS new(\((members.names + ["position"]).joined(separator: ", ")))
                """
            return """
                \(try rows.texts.placing(others, through: link, from: source, value: value))\
                \(try rows.texts.insertion(as: .pair)) (\(quoted.joined(separator: ", "))) \
                SELECT \((values + ends + tenant.values).joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO \(try rows.texts.onPairConflict(setting: [position] + columns)) \
                RETURNING \(try rows.texts.selectList(alias: "h"))
                """
        }
    }

    /// Whether triggers, rules or policies may keep rows from getting their places.
    var mayKeepRows: Bool { rows.mayKeepRows([.updateTriggers, .insertTriggers]) }

    private var isHelper: Bool { relationship.model.helper != nil }

    /// The rows `t`, of members that are hidden, too: they keep their places.
    private var allRows: ScopedRows { rows.all(as: .row, isHelper ? .own : .all) }

    private func shape(_ name: String) -> String { "\(name) \(relationship.source.index).\(relationship.slot)" }
}

extension EntityTexts {
    /// The position after the last one among rows of the same owner, including rows that `placing` gives a position.
    func endPosition(_ position: Int, ownerColumns: [Int], value: (Int) -> String) throws -> String {
        let owned =
            try ownerColumns.map { try equality($0, alias: "h", to: value($0)) }
            .joined(separator: " AND ")
        let column = "h.\(try quoted(position))"
        let unplaced = entity.entity.attributes[position].isNotNull ? "" : " + count(*) - count(\(column))"
        return
            "(SELECT coalesce(max(\(column)), 0)\(unplaced) + 1 FROM \(try entity.all(as: .pair, .own).from(where: owned)))"
    }

    /// `WITH … UPDATE` before an INSERT of pairs: gives positions to rows of the same owners without one, in their
    /// order.
    ///
    /// Otherwise they would sort after the new rows. Empty if positions are NOT NULL.
    func placing(
        _ ends: [(column: Int, ownerColumns: [Int])], through link: RelationshipRuntime.HelperLink,
        from source: String, value: (Int) -> String
    ) throws -> String {
        let updates = try ends.filter { !entity.entity.attributes[$0.column].isNotNull }.enumerated().map {
            number, end in
            let column = try quoted(end.column)
            let pair = try link.pairColumns.map { try quoted($0) }
            let owner = try end.ownerColumns.map { try quoted($0) }
            let isOwners = try end.ownerColumns.map { try equality($0, alias: "u", to: value($0)) }
                .joined(separator: " AND ")
            func same(_ columns: [Int], _ alias: String, as other: String) throws -> String {
                try columns.map { equality(of: $0, try compared($0, alias: alias), try compared($0, alias: other)) }
                    .joined(separator: " AND ")
            }
            let sameOwner = try same(end.ownerColumns, "h", as: "u")
            let unplaced = "u.\(column) IS NULL AND EXISTS (SELECT FROM \(source) WHERE \(isOwners))"
            let places = """
                (SELECT \(pair.map { "u.\($0)" }.joined(separator: ", ")), \
                (SELECT coalesce(max(h.\(column)), 0) FROM \(try entity.all(as: .pair, .own).from(where: sameOwner))) \
                + row_number() OVER (PARTITION BY \(owner.map { "u.\($0)" }.joined(separator: ", ")) \
                ORDER BY \(pair.map { "u.\($0)" }.joined(separator: ", "))) AS place \
                FROM \(try entity.all(as: .unplaced, .own).from(where: unplaced))) AS n
                """
            let update = try entity.all(as: .row, .own).update(
                set: ["\(column) = n.place"], from: places, where: try same(link.pairColumns, "t", as: "n"),
                returning: nil)
            return "placed\(number) AS (\(update))"
        }
        return updates.isEmpty ? "" : "WITH \(updates.joined(separator: ", ")) "
    }
}
