import KindredPostgres
import KindredSchema

/// The statements that change the rows which reference an owner: the write side of one-to-many and one-to-one
/// relationships, whose member rows hold the foreign key.
///
/// Members are locked and counted in the statement that changes them: if one of them is missing, none is changed.
struct MemberStatements {
    let relationship: RelationshipRuntime
    /// The owner's values, assigned to the foreign key's columns.
    let ownerValues: [PostgresValue]

    /// The entity whose rows hold the foreign key.
    var members: EntityRuntime { relationship.destination }

    /// The members `t`, whether their filter shows them or not.
    private var all: ScopedRows { members.all(as: .row, .all) }

    /// The members `t` of the relationship: of a set, members that their filter shows; of a to-one end, any.
    private func owned(_ parameters: inout Parameters) throws -> ScopedRows {
        relationship.isToMany ? try parameters.shown(members, as: .row, .all) : all
    }

    /// The foreign key's columns in the member rows.
    var columns: [Int] { relationship.otherColumns }

    /// The foreign key's columns that change when a member joins: all but columns shared with a key or another foreign
    /// key, such as a tenant's, which must already agree.
    var joining: [Int] { members.ownColumns(of: columns) }

    /// `UPDATE member SET fk = owner WHERE key`: one member joins, and leaves its old owner.
    func attach(_ member: VersionedKey) throws -> Statement {
        let joining = joining
        var parameters = Parameters()
        let owner = try parameters.values(
            values(for: joining), of: joining, in: members, by: relationship.comparison(of: joining))
        let row = try parameters.key(member, of: members)
        return try parameters.statement("attach 1 \(columns)", in: members) {
            let (set, found) = (try owner.assignments(), try row.equality("t"))
            guard members.isChecked(.updateTriggers) else {
                return try all.update(set: set, where: found, returning: try members.texts.selectList(alias: "t"))
            }
            return try members.texts.checkedRows(
                try all.checkedUpdate(
                    set: set, where: found, isRight: try owner.equality("t"), keepsKeys: false))
        }
    }

    /// Several members join; the result's last column counts the existing ones.
    func attach(_ rows: [VersionedKey]) throws -> Statement {
        let joining = joining
        let owner = (columns: joining, values: values(for: joining))
        return try guarded("attach \(columns)", rows.map(\.key), versions: rows.map(\.version), owner: owner) {
            keys, owner in
            Change(
                set: try owner.assignments(),
                condition: "\(try keys.condition("t")) AND (\(try owner.difference("t")))",
                isRight: try owner.equality("t"))
        }
    }

    /// The members that reference the owner leave it; the result's last column counts the existing ones.
    func detach(_ rows: [VersionedKey], leaving: [Int]) throws -> Statement {
        try detach(keys: rows.map(\.key), versions: rows.map(\.version), leaving: leaving)
    }

    /// The members with the keys leave the owner; without versions, whatever the version of their rows.
    func detach(keys: [ObjectKey], versions: [PostgresValue?]? = nil, leaving: [Int]) throws -> Statement {
        try guarded("detach \(columns)", keys, versions: versions, owner: (columns, ownerValues)) { keys, owner in
            // `IS TRUE` keeps the planner from searching all members of the owner, which its statistics may not know
            // yet.
            let isOwned = try owner.equality("t")
            return Change(
                set: try members.texts.nulls(leaving), condition: "\(try keys.condition("t")) AND (\(isOwned)) IS TRUE",
                isRight: "(\(isOwned)) IS NOT TRUE")
        }
    }

    /// All members but the given members leave the owner, if all given members exist.
    ///
    /// Members of a set stay if their filter hides them.
    func detachOthers(_ rows: [VersionedKey], leaving: [Int]) throws -> Statement {
        try guarded(
            "detach others \(columns)", rows.map(\.key), versions: rows.map(\.version), owner: (columns, ownerValues),
            amongOwned: true
        ) { keys, owner in
            let isOwned = try owner.equality("t")
            return Change(
                set: try members.texts.nulls(leaving),
                condition: "\(isOwned) AND NOT \(try keys.unconfined.condition("t"))",
                isRight: "(\(isOwned)) IS NOT TRUE")
        }
    }

    /// `UPDATE member SET fk = NULL WHERE fk = owner`: all members leave; with rules, a query that fails unless they have
    /// left follows.
    func detachAll(leaving: [Int]) throws -> [Statement] {
        var parameters = Parameters()
        let owner = try parameters.values(
            ownerValues, of: columns, in: members, by: relationship.comparison(of: columns))
        let owned = try owned(&parameters)
        let text = try members.texts.statement("detach all \(columns)") {
            let isOwned = try owner.equality("t")
            guard members.isChecked(.updateTriggers) else {
                return try owned.update(
                    set: try members.texts.nulls(leaving), where: isOwned,
                    returning: try members.texts.selectList(alias: "t"))
            }
            return try members.texts.checkedRows(
                try owned.checkedUpdate(
                    set: try members.texts.nulls(leaving), where: isOwned, isRight: "(\(isOwned)) IS NOT TRUE",
                    keepsKeys: true))
        }
        guard members.hasRules else { return [parameters.statement(text)] }
        let check = try members.texts.statement("check all \(columns)") {
            try owned.absence(of: try owner.equality("t"))
        }
        return [parameters.statement(text), parameters.statement(check)]
    }

    /// With rules, a query that fails unless the given members have joined the owner, or have left it.
    func check(_ keys: [ObjectKey], haveJoined: Bool) throws -> [Statement] {
        try check("check \(haveJoined ? "joined" : "left")", keys) { keys, owner in
            "\(try keys.condition("t")) AND (\(try owner.equality("t"))) IS \(haveJoined ? "NOT " : "")TRUE"
        }
    }

    /// With rules, a query that fails unless all other members have left the owner.
    func checkOthers(_ keys: [ObjectKey]) throws -> [Statement] {
        try check("check others", keys, amongOwned: true) {
            "\(try $1.equality("t")) AND NOT \(try $0.condition("t"))"
        }
    }

    private func check(
        _ shape: String, _ keys: [ObjectKey], amongOwned: Bool = false,
        absent: (KeySet, ColumnParameters) throws -> String
    ) throws -> [Statement] {
        guard members.hasRules else { return [] }
        var parameters = Parameters()
        let keys = try parameters.keys(keys, of: members.key, in: members)
        let owner = try parameters.values(
            ownerValues, of: columns, in: members, by: relationship.comparison(of: columns))
        let rows = amongOwned ? try owned(&parameters) : all
        return [
            try parameters.statement("\(shape) \(columns)", in: members) {
                try rows.absence(of: try absent(keys, owner))
            }
        ]
    }

    /// The assignments and the condition of an UPDATE of members.
    private struct Change {
        let set: [String]
        let condition: String
        /// The condition for the changed rows, where they are checked.
        let isRight: String
    }

    /// A change of some members that changes none if one of them is missing.
    ///
    /// Locks the rows first, which waits for concurrent deletions; the count is exact after that.
    ///
    /// - Parameters:
    ///   - owner: the owner's values of the foreign key's columns that the statement names.
    ///   - amongOwned: whether rows stay unchanged that the relationship does not have.
    private func guarded(
        _ shape: String, _ keys: [ObjectKey], versions: [PostgresValue?]?,
        owner: (columns: [Int], values: [PostgresValue?]), amongOwned: Bool = false,
        change: (KeySet, ColumnParameters) throws -> Change
    ) throws -> Statement {
        var parameters = Parameters()
        let count = keys.count
        let (keys, versioned) = try parameters.keys(keys, versions: versions, of: members)
        let wanted = try parameters.count(count)
        let owner = try parameters.values(
            owner.values, of: owner.columns, in: members, by: relationship.comparison(of: owner.columns))
        let rows = amongOwned ? try owned(&parameters) : all
        return try parameters.statement("\(shape) \(versioned != nil)", in: members) {
            let change = try change(keys, owner)
            let condition = "\(change.condition) AND (SELECT count(*) FROM locked) = \(wanted)"
            let given = "\(try keys.condition("t"))\(try versioned.map { " AND \(try $0.exists("t"))" } ?? "")"
            let locked = """
                WITH locked AS MATERIALIZED (\
                SELECT 1 FROM \(try all.from(where: given))\(try members.texts.orderToLock("t")) FOR NO KEY UPDATE)
                """
            guard members.isChecked(.updateTriggers) else {
                let update = try rows.update(
                    set: change.set, where: condition, returning: try members.texts.selectList(alias: "t"))
                return """
                    \(locked), changed AS (\(update)) \
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT JOIN changed ON true
                    """
            }
            // A foreign key inside the key changes that key.
            let update = try rows.checkedUpdate(
                set: change.set, where: condition, isRight: change.isRight,
                keepsKeys: !joining.contains(where: members.key.contains))
            return """
                \(locked), \(update) SELECT \(try members.texts.writtenColumns), present.count \
                FROM (SELECT count(*) FROM locked) AS present LEFT JOIN written ON true \
                WHERE \(CheckedWrite.condition())
                """
        }
    }

    private func values(for joining: [Int]) -> [PostgresValue?] {
        joining.map { column in columns.firstIndex(of: column).map { ownerValues[$0] } }
    }
}
