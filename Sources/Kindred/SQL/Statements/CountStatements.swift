import KindredPostgres
import KindredSchema

/// A question about many owners' sets that needs no members.
package enum MemberTally: String {
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
    /// The columns of these rows that reference the owner.
    private let columns: [Int]

    init(_ relationship: RelationshipRuntime) {
        self.relationship = relationship
        owners = relationship.source
        members = relationship.destination
        (rows, columns) = (relationship.linkRows, relationship.linkColumns)
    }

    /// One query for many owners; it returns their indices among the keys, since only the server can compare the keys.
    func tally(_ tally: MemberTally, of keys: [ObjectKey]) throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.shardKeys(keys, of: columns, in: rows, by: relationship.comparison(of: columns))
        let shown = try parameters.shownLinks(relationship)
        return try parameters.statement("\(tally.rawValue) \(relationship.slot)", in: owners) {
            let given = "\(keys.rows) WITH ORDINALITY AS o(\(keys.names.joined(separator: ", ")), n)"
            let pairs = try keys.equality("t", to: "o") + keys.shard.clause("t")
            return switch tally {
            case .count: "SELECT o.n, count(*) FROM \(given)\(try shown.join(on: pairs)) GROUP BY o.n"
            case .existence: "SELECT o.n FROM \(given) WHERE EXISTS (SELECT FROM \(try shown.from(where: pairs)))"
            }
        }
    }

    /// `SELECT count(*)`, or `SELECT EXISTS`, of one owner's members; nil if the owner's row has a NULL, so that
    /// nothing can reference it.
    func tally(_ tally: MemberTally, of owner: Row) throws -> Statement? {
        guard let values = try values(of: owner) else { return nil }
        var parameters = Parameters()
        let given = try parameters.values(values, of: columns, in: rows, by: relationship.comparison(of: columns))
        let shown = try parameters.shownLinks(relationship)
        return try parameters.statement("\(tally.rawValue) \(shape(columns))", in: rows) {
            let members = "FROM \(try shown.from(where: try given.equality("t")))"
            return tally == .count ? "SELECT count(*) \(members)" : "SELECT EXISTS (SELECT \(members))"
        }
    }

    /// `SELECT EXISTS` of one member; nil if nothing can reference the owner.
    func exists(_ member: Row, of owner: Row) throws -> Statement? {
        guard let values = try values(of: owner) else { return nil }
        var (memberColumns, referenced) = (rows.key, rows.key)
        if let helper = relationship.helper {
            guard members.isReferenced(member) else { return nil }
            (memberColumns, referenced) = (helper.destinationColumns, relationship.otherColumns)
        }
        var parameters = Parameters()
        let columns = columns + memberColumns
        let pair = try parameters.values(
            values + referenced.map { try member[$0] }, of: columns, in: rows, by: relationship.comparison(of: columns))
        let shown = try parameters.shownLinks(relationship)
        return try parameters.statement("exists \(shape(columns))", in: rows) {
            "SELECT EXISTS (SELECT FROM \(try shown.from(where: try pair.equality("t"))))"
        }
    }

    /// The part of a shape that tells columns, and through a helper with a filter the members, which may differ.
    private func shape(_ columns: [Int]) -> String {
        let isOfMembers = relationship.hidesMembers && relationship.helper != nil
        return isOfMembers ? "\(columns) of \(owners.index).\(relationship.slot)" : "\(columns)"
    }

    /// `SELECT DISTINCT`: the keys by which owners are paired with some members, through a helper.
    func owners(of members: [ObjectKey], through helper: RelationshipRuntime.HelperLink) throws -> Statement {
        var parameters = Parameters()
        let members = try parameters.keys(
            members, of: helper.destinationColumns, in: rows, by: relationship.comparison(of: helper.destinationColumns)
        )
        let pairs = try parameters.shown(rows, as: .row, .own)
        return try parameters.statement("count owners \(owners.index).\(relationship.slot)", in: rows) {
            let list = try rows.texts.selectList(of: columns, alias: "t")
            return "SELECT DISTINCT \(list) FROM \(try pairs.from(where: try members.condition("t")))"
        }
    }

    /// `SELECT … ORDER BY key FOR NO KEY UPDATE`: other transactions can still add members that reference the owners.
    func lockOwners(_ keys: [ObjectKey]) throws -> Statement {
        let entity = owners
        let own = relationship.ownColumns
        var parameters = Parameters()
        let keys = try parameters.keysToLock(keys, of: own, in: entity)
        return try parameters.statement("count lock \(own)", in: entity) {
            let columns = try own.map { "o.\(try entity.texts.quoted($0))" }
            return """
                SELECT 1 FROM \(try entity.all(as: .owner, .own).from(where: try keys.condition("o"))) \
                ORDER BY \(columns.joined(separator: ", ")) FOR NO KEY UPDATE OF o
                """
        }
    }

    /// The owners with too few or too many members, and their counts; counting stops at one too many.
    func outsideLimits(_ keys: [ObjectKey]) throws -> Statement {
        let entity = owners
        let own = relationship.ownColumns
        let (minimum, maximum) = (relationship.minimum ?? 0, relationship.maximum ?? .max)
        var parameters = Parameters()
        let keys = try parameters.keysToLock(keys, of: own, in: entity)
        let end = try parameters.count(maximum == .max ? minimum : max(minimum, maximum + 1))
        let (least, most) = (try parameters.count(minimum), try parameters.count(maximum))
        let shown = try parameters.shownLinks(relationship, countsUnseen: true)
        return try parameters.statement("count limits \(relationship.slot)", in: entity) {
            return """
                SELECT \(try entity.texts.selectList(of: own, alias: "o")), c.n FROM \(try entity.all(as: .owner, .own).from(
                where: "\(try keys.condition("o")) AND (c.n < \(least) OR c.n > \(most))",
                joining: """
                     CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT \
                    FROM \(try shown.from(where: try relationship.isLinked("t", to: "o"))) LIMIT \(end)) AS n) AS c
                    """))
                """
        }
    }

    /// The owner's values of the columns that reference it; nil if nothing can.
    private func values(of owner: Row) throws -> [PostgresValue?]? {
        let values = try relationship.ownColumns.map { try owner[$0] }
        guard !values.contains(nil), relationship.holdsForeignKey || owners.isReferenced(owner) else { return nil }
        return values
    }
}
