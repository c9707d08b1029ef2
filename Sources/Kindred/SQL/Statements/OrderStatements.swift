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

    /// `SELECT … FOR NO KEY UPDATE` of the owner: serializes changes of one order.
    static func lock(_ owner: ObjectKey, of entity: EntityRuntime) throws -> Statement {
        let text = try entity.text("lock for order") {
            """
            SELECT FROM \(try entity.quotedName) WHERE \(try entity.equality(entity.key, firstParameter: 1)) \
            FOR NO KEY UPDATE
            """
        }
        var bindings = Bindings()
        try entity.append(owner, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// All members in order, with their positions.
    func read() throws -> Statement {
        var bindings = Bindings()
        try rows.append(ownerValues, for: ownerColumns, to: &bindings)
        let text = try text("read order") {
            "\(try select()) WHERE \(try rows.equality(ownerColumns, firstParameter: 1)) \(try order())"
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// The last member with a position and all members without one, in order, and which of some keys are members.
    func readEnd(_ keys: [ObjectKey]) throws -> Statement {
        var bindings = Bindings()
        try rows.append(ownerValues, for: ownerColumns, to: &bindings)
        try KeySet.append(keys, memberAttributes, to: &bindings)
        let text = try text("read end of order") {
            let isOwned = try rows.equality(ownerColumns, firstParameter: 1)
            let column = try rows.quoted(position)
            let isGiven = KeySet.condition(
                try memberColumns.map { try rows.quoted($0) }, memberAttributes, firstParameter: ownerColumns.count + 1)
            return """
                \(try select()) WHERE \(isOwned) AND (\(column) IS NULL OR \(isGiven) OR \
                \(column) = (SELECT max(\(column)) FROM \(try tableName) WHERE \(isOwned))) \(try order())
                """
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private func select() throws -> String {
        // Keys are read in the form in which they are written, for any width of integer.
        let columns = try memberColumns.map { column in
            let isText = rows.entity.attributes[column].isReadAsText
            return try rows.quoted(column) + (isText ? "::text" : "")
        }
        return "SELECT \((columns + [try rows.quoted(position)]).joined(separator: ", ")) FROM \(try tableName)"
    }

    private func order() throws -> String {
        let columns = try ["\(rows.quoted(position)) NULLS LAST"] + memberColumns.map { try rows.quoted($0) }
        return "ORDER BY \(columns.joined(separator: ", "))"
    }

    /// `UPDATE … FROM unnest(…)`: sets the members' positions, and the owner of joining members.
    ///
    /// Rows that left the owner meanwhile stay unchanged. The result's last column is the row's index among all given
    /// rows, staying rows first; where it is checked, whether the row is the owner's follows.
    func place(_ staying: [Place], joining: [Place] = [], columns joiningColumns: [Int] = []) throws -> Statement {
        let joined = joining.isEmpty ? [] : joiningColumns
        let keyCount = memberColumns.count
        let firstOwner = keyCount + 2
        var bindings = Bindings()
        let all = staying + joining
        try KeySet.append(all.map(\.key), memberAttributes, to: &bindings)
        try bindings.appendArray(all.lazy.map { .integer($0.position) }, of: .int8)
        try rows.append(ownerValues, for: ownerColumns, to: &bindings)
        if !joined.isEmpty { try bindings.append(.integer(Int64(staying.count)), as: .int8) }
        let text = try text("place \(joined)") {
            let parameters = memberAttributes.enumerated().map { KeySet.array($1, 1 + $0) } + ["$\(keyCount + 1)"]
            let names = memberColumns.indices.map { "k\($0)" } + ["position", "place"]
            let keys = try memberColumns.enumerated().map { "\(try rows.compared($1, alias: "t")) = new.k\($0)" }
            var set = ["\(try rows.quoted(position)) = new.position"]
            for column in joined {
                guard let place = ownerColumns.firstIndex(of: column) else { continue }
                set.append("\(try rows.quoted(column)) = $\(firstOwner + place)")
            }
            let isOwners = try rows.equality(ownerColumns, alias: "t", firstParameter: firstOwner)
            var isOwned = isOwners
            if !joined.isEmpty { isOwned = "(\(isOwned) OR new.place > $\(firstOwner + ownerColumns.count))" }
            let given = """
                unnest(\(parameters.joined(separator: ", "))) WITH ORDINALITY AS new(\(names.joined(separator: ", ")))
                """
            let owned = mayKeepRows ? ", (\(isOwners)) IS TRUE" : ""
            return try rows.update(
                alias: "t", set: set, from: given, where: "\(keys.joined(separator: " AND ")) AND \(isOwned)",
                returning: "\(try rows.selectList(alias: "t")), new.place\(owned)", isOwn: isHelper)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `INSERT INTO helper …`: pairs with their positions; an existing pair gets position and payload.
    func insert(_ pairs: [Place], payload: ColumnValues?, _ link: RelationshipRuntime.HelperLink) throws -> Statement {
        let columns = payload?.columns ?? []
        // In the other end's order the pairs join the end.
        let others = link.positions.filter { $0.column != position && !columns.contains($0.column) }
        let keyCount = memberColumns.count
        let firstOwner = keyCount + 2
        let firstPayload = firstOwner + ownerColumns.count
        var bindings = Bindings()
        try KeySet.append(pairs.map(\.key), memberAttributes, to: &bindings)
        try bindings.appendArray(pairs.lazy.map { .integer($0.position) }, of: .int8)
        try rows.append(ownerValues, for: ownerColumns, to: &bindings)
        try payload?.append(to: &bindings)
        let text = try text("insert placed \(columns)") {
            let parameters = memberAttributes.enumerated().map { KeySet.array($1, 1 + $0) } + ["$\(keyCount + 1)"]
            let names = memberColumns.indices.map { "k\($0)" } + ["position"]
            func value(_ column: Int) -> String {
                if let place = memberColumns.firstIndex(of: column) { return "new.k\(place)" }
                return "$\(firstOwner + (ownerColumns.firstIndex(of: column) ?? 0))"
            }
            let written = ownerColumns + memberColumns + [position] + columns
            let values =
                ownerColumns.indices.map { "$\(firstOwner + $0)" } + memberColumns.map(value) + ["new.position"]
                + columns.indices.map { "$\(firstPayload + $0)" }
            let ends = try others.map { try rows.endPosition($0.column, $0.ownerColumns, value) }
            let pair = try link.pairColumns.map { try rows.quoted($0) }.joined(separator: ", ")
            let update = try ([position] + columns).map { "\(try rows.quoted($0)) = excluded.\(try rows.quoted($0))" }
            let quoted = try (written + others.map(\.column)).map { try rows.quoted($0) }
            let source = "unnest(\(parameters.joined(separator: ", "))) AS new(\(names.joined(separator: ", ")))"
            return """
                \(try rows.placing(others, link, from: source, value))\
                INSERT INTO \(try rows.quotedName) AS h (\(quoted.joined(separator: ", "))) \
                SELECT \((values + ends).joined(separator: ", ")) \
                FROM \(source) \
                ON CONFLICT (\(pair)) DO UPDATE SET \(update.joined(separator: ", "))\(try rows.versionAssignment(alias: "h")) \
                RETURNING \(try rows.selectList(alias: "h"))
                """
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// Whether triggers, rules or policies may keep rows from getting their places.
    var mayKeepRows: Bool { rows.mayKeepRows([.updateTriggers, .insertTriggers]) }

    private var isHelper: Bool { relationship.model.helper != nil }

    private var tableName: String {
        get throws { try isHelper ? rows.ownTableName : rows.quotedName }
    }

    private var memberAttributes: [Attribute] { memberColumns.map { rows.entity.attributes[$0] } }

    private func text(_ shape: String, _ make: () throws -> String) rethrows -> StatementText {
        try rows.text("\(shape) \(relationship.source.index).\(relationship.slot)", make)
    }
}

extension EntityRuntime {
    /// The position after the last one among rows of the same owner, including rows that `placing` gives a position.
    func endPosition(_ position: Int, _ ownerColumns: [Int], _ value: (Int) -> String) throws -> String {
        let owned = try ownerColumns.map { "\(try compared($0, alias: "h")) = \(compared($0, with: value($0)))" }
            .joined(separator: " AND ")
        let column = "h.\(try quoted(position))"
        let unplaced = entity.attributes[position].isNotNull ? "" : " + count(*) - count(\(column))"
        return "(SELECT coalesce(max(\(column)), 0)\(unplaced) + 1 FROM \(try ownTableName) AS h WHERE \(owned))"
    }

    /// `WITH … UPDATE` before an INSERT of pairs: gives positions to rows of the same owners without one, in their
    /// order.
    ///
    /// Otherwise they would sort after the new ones. Empty if positions are NOT NULL.
    func placing(
        _ ends: [(column: Int, ownerColumns: [Int])], _ link: RelationshipRuntime.HelperLink, from source: String,
        _ value: (Int) -> String
    ) throws -> String {
        let updates = try ends.filter { !entity.attributes[$0.column].isNotNull }.enumerated().map { number, end in
            let column = try quoted(end.column)
            let pair = try link.pairColumns.map { try quoted($0) }
            let owner = try end.ownerColumns.map { try quoted($0) }
            let isOwners = try end.ownerColumns.map {
                "\(try compared($0, alias: "u")) = \(compared($0, with: value($0)))"
            }.joined(separator: " AND ")
            func same(_ columns: [Int], _ alias: String, _ other: String) throws -> String {
                try columns.map { "\(try compared($0, alias: alias)) = \(try compared($0, alias: other))" }
                    .joined(separator: " AND ")
            }
            return """
                placed\(number) AS (UPDATE \(try ownTableName) AS t \
                SET \(column) = n.place\(try versionAssignment(alias: "t")) FROM (\
                SELECT \(pair.map { "u.\($0)" }.joined(separator: ", ")), \
                (SELECT coalesce(max(h.\(column)), 0) FROM \(try ownTableName) AS h \
                WHERE \(try same(end.ownerColumns, "h", "u"))) \
                + row_number() OVER (PARTITION BY \(owner.map { "u.\($0)" }.joined(separator: ", ")) \
                ORDER BY \(pair.map { "u.\($0)" }.joined(separator: ", "))) AS place \
                FROM \(try ownTableName) AS u \
                WHERE u.\(column) IS NULL AND EXISTS (SELECT FROM \(source) WHERE \(isOwners))) AS n \
                WHERE \(try same(link.pairColumns, "t", "n")))
                """
        }
        return updates.isEmpty ? "" : "WITH \(updates.joined(separator: ", ")) "
    }
}
