import KindredPostgres
import KindredSchema

/// A question about many owners' sets that needs no members.
enum MemberTally {
    /// The number of members.
    case count
    /// Whether there is a member: the server stops at the first.
    case existence

    /// The slot of the answers in a fetch group: negative, apart from the slots of members.
    func slot(of relationship: RelationshipRuntime) -> Int {
        switch self {
        case .count: -1 - 2 * relationship.slot
        case .existence: -2 - 2 * relationship.slot
        }
    }
}

/// The statements that count the members of owners' sets, without reading them.
struct CountStatements {
    let relationship: RelationshipRuntime
    /// The entity whose sets are counted.
    private let owners: EntityRuntime
    private let members: EntityRuntime
    /// The rows that store the relationship: members' or the helper's.
    let rows: EntityRuntime
    /// Their columns that reference the owner.
    private let columns: [Int]

    init(_ relationship: RelationshipRuntime) {
        self.relationship = relationship
        owners = relationship.source
        members = relationship.destination
        (rows, columns) = (relationship.linkRows, relationship.linkColumns)
    }

    private var tableName: String {
        get throws { try relationship.model.helper == nil ? rows.quotedName : rows.ownTableName }
    }

    /// One query for many owners; it returns their indices among the keys, since only the server can compare the keys.
    func tally(_ tally: MemberTally, of keys: [ObjectKey]) throws -> Statement {
        let attributes = rows.attributes(columns)
        let text = try owners.text("\(tally) \(relationship.slot)") {
            let names = columns.indices.map { "k\($0)" }
            let keys = KeySet.rows(attributes, firstParameter: 1)
            let given = "\(keys) WITH ORDINALITY AS o(\(names.joined(separator: ", ")), n)"
            let pairs = try zip(names, columns).map { "\(try rows.compared($1, alias: "t")) = o.\($0)" }
                .joined(separator: " AND ")
            let table = "\(try tableName) AS t"
            return switch tally {
            case .count: "SELECT o.n, count(*) FROM \(given) JOIN \(table) ON \(pairs) GROUP BY o.n"
            case .existence: "SELECT o.n FROM \(given) WHERE EXISTS (SELECT FROM \(table) WHERE \(pairs))"
            }
        }
        var bindings = Bindings()
        try KeySet.append(keys, attributes, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members; nil if the owner's row has a NULL, so that
    /// nothing can reference it.
    func tally(_ tally: MemberTally, of owner: Row) throws -> Statement? {
        guard let bindings = try bindings(of: owner) else { return nil }
        let text = try rows.text("\(tally) \(columns)") {
            let members = "FROM \(try tableName) WHERE \(try rows.equality(columns, firstParameter: 1))"
            return tally == .count ? "SELECT count(*) \(members)" : "SELECT EXISTS (SELECT \(members))"
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT EXISTS` of one member; nil if nothing can reference the owner.
    func exists(_ member: Row, of owner: Row) throws -> Statement? {
        guard var bindings = try bindings(of: owner) else { return nil }
        var (memberColumns, referenced) = (rows.key, rows.key)
        if let helper = relationship.helper {
            guard members.isReferenced(member) else { return nil }
            (memberColumns, referenced) = (helper.destinationColumns, relationship.otherColumns)
        }
        try rows.append(try referenced.map { try member[$0] }, for: memberColumns, to: &bindings)
        let columns = columns + memberColumns
        let text = try rows.text("exists \(columns)") {
            "SELECT EXISTS (SELECT FROM \(try tableName) WHERE \(try rows.equality(columns, firstParameter: 1)))"
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// `SELECT … ORDER BY key FOR NO KEY UPDATE`: other transactions can still add members that reference the owners.
    func lockOwners(_ keys: [ObjectKey]) throws -> Statement {
        let entity = owners
        let own = relationship.ownColumns
        let text = try entity.text("count lock \(own)") {
            let columns = try own.map { "o.\(try entity.quoted($0))" }
            return """
                SELECT 1 FROM \(try entity.ownTableName) AS o \
                WHERE \(KeySet.condition(columns, entity.attributes(own), firstParameter: 1)) \
                ORDER BY \(columns.joined(separator: ", ")) FOR NO KEY UPDATE OF o
                """
        }
        var bindings = Bindings()
        try KeySet.append(keys, entity.attributes(own), to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// The owners with too few or too many members, and their counts; counting stops at one too many.
    func outsideLimits(_ keys: [ObjectKey]) throws -> Statement {
        let entity = owners
        let own = relationship.ownColumns
        let attributes = entity.attributes(own)
        let text = try entity.text("count limits \(relationship.slot)") {
            let columnNames = try own.map { "o.\(try entity.quoted($0))" }
            let pairs = try zip(columns, own).map {
                "\(try rows.compared($0, alias: "t")) = \(try entity.compared($1, alias: "o"))"
            }
            let next = own.count + 1
            return """
                SELECT \(try entity.selectList(of: own, alias: "o")), c.n FROM \(try entity.ownTableName) AS o \
                CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT FROM \(try tableName) AS t \
                WHERE \(pairs.joined(separator: " AND ")) LIMIT $\(next)) AS m) AS c \
                WHERE \(KeySet.condition(columnNames, attributes, firstParameter: 1)) \
                AND (c.n < $\(next + 1) OR c.n > $\(next + 2))
                """
        }
        let (minimum, maximum) = (relationship.minimum ?? 0, relationship.maximum ?? .max)
        var bindings = Bindings()
        try KeySet.append(keys, attributes, to: &bindings)
        for number in [maximum == .max ? minimum : max(minimum, maximum + 1), minimum, maximum] {
            try bindings.append(.integer(Int64(number)), as: .int8)
        }
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private func bindings(of owner: Row) throws -> Bindings? {
        let values = try relationship.ownColumns.map { try owner[$0] }
        guard !values.contains(nil), relationship.holdsForeignKey || owners.isReferenced(owner) else { return nil }
        var bindings = Bindings()
        try rows.append(values, for: columns, to: &bindings)
        return bindings
    }
}
