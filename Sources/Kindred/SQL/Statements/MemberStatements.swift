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

    /// The foreign key's columns in the member rows.
    var columns: [Int] { relationship.otherColumns }

    /// The foreign key's columns that change when a member joins: all but columns shared with a key or another foreign
    /// key, such as a tenant's, which must already agree.
    var joining: [Int] { members.ownColumns(of: columns) }

    /// `UPDATE member SET fk = owner WHERE key`: one member joins, and leaves its old owner.
    func attach(_ member: VersionedKey) throws -> Statement {
        let joining = joining
        let text = try members.text("attach 1 \(columns)") {
            let set = try members.assignments(joining, firstParameter: 1)
            let found = try members.equality(members.versionedKey, alias: "t", firstParameter: joining.count + 1)
            guard members.isChecked(.updateTriggers) else {
                return try members.update(
                    alias: "t", set: set, where: found, returning: try members.selectList(alias: "t"))
            }
            return try members.checkedRows(
                try members.checkedUpdate(
                    set: set, where: found, isRight: try members.equality(joining, alias: "t", firstParameter: 1),
                    keepsKeys: false))
        }
        var bindings = Bindings()
        try members.append(values(for: joining), for: joining, to: &bindings)
        try members.append(member, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// Several members join; the result's last column counts the existing ones.
    func attach(_ rows: [VersionedKey]) throws -> Statement {
        let joining = joining
        return try guarded("attach \(columns)", rows.map(\.key), versions: rows.map(\.version)) { first in
            let differs = try joining.enumerated().map {
                "\(try members.compared($1, alias: "t")) IS DISTINCT FROM \(members.compared($1, with: "$\(first + $0)"))"
            }
            return Change(
                set: try members.assignments(joining, firstParameter: first),
                condition: "\(try keyCondition()) AND (\(differs.joined(separator: " OR ")))",
                isRight: try members.equality(joining, alias: "t", firstParameter: first))
        } bind: {
            try members.append(values(for: joining), for: joining, to: &$0)
        }
    }

    /// The members that reference the owner leave it; the result's last column counts the existing ones.
    func detach(_ rows: [VersionedKey], leaving: [Int]) throws -> Statement {
        try detach(keys: rows.map(\.key), versions: rows.map(\.version), leaving: leaving)
    }

    /// The same by keys; without versions, for any version of the rows.
    func detach(keys: [ObjectKey], versions: [PostgresValue?]? = nil, leaving: [Int]) throws -> Statement {
        try guarded("detach \(columns)", keys, versions: versions) { first in
            // `IS TRUE` keeps the planner from searching all members of the owner, which its statistics may not know
            // yet.
            let isOwned = try members.equality(columns, alias: "t", firstParameter: first)
            return Change(
                set: try members.nulls(leaving), condition: "\(try keyCondition()) AND (\(isOwned)) IS TRUE",
                isRight: "(\(isOwned)) IS NOT TRUE")
        } bind: {
            try members.append(ownerValues, for: columns, to: &$0)
        }
    }

    /// All members but the given ones leave the owner, if all given ones exist.
    func detachOthers(_ rows: [VersionedKey], leaving: [Int]) throws -> Statement {
        try guarded("detach others \(columns)", rows.map(\.key), versions: rows.map(\.version)) { first in
            let isOwned = try members.equality(columns, alias: "t", firstParameter: first)
            return Change(
                set: try members.nulls(leaving), condition: "\(isOwned) AND NOT \(try keyCondition())",
                isRight: "(\(isOwned)) IS NOT TRUE")
        } bind: {
            try members.append(ownerValues, for: columns, to: &$0)
        }
    }

    /// `UPDATE member SET fk = NULL WHERE fk = owner`: all members leave; with rules, a query that fails unless they have
    /// left follows.
    func detachAll(leaving: [Int]) throws -> [Statement] {
        let text = try members.text("detach all \(columns)") {
            let isOwned = try members.equality(columns, alias: "t", firstParameter: 1)
            guard members.isChecked(.updateTriggers) else {
                return try members.update(
                    alias: "t", set: try members.nulls(leaving), where: isOwned,
                    returning: try members.selectList(alias: "t"))
            }
            return try members.checkedRows(
                try members.checkedUpdate(
                    set: try members.nulls(leaving), where: isOwned, isRight: "(\(isOwned)) IS NOT TRUE",
                    keepsKeys: true))
        }
        var bindings = Bindings()
        try members.append(ownerValues, for: columns, to: &bindings)
        let statement = Statement(text: text, bindings: bindings, resultFormat: .binary)
        guard members.hasRules else { return [statement] }
        let check = try members.text("check all \(columns)") {
            try members.absence(of: try members.equality(columns, alias: "t", firstParameter: 1))
        }
        return [statement, Statement(text: check, bindings: bindings, resultFormat: .binary)]
    }

    /// With rules, a query that fails unless the given members have joined the owner, or have left it.
    func check(_ keys: [ObjectKey], haveJoined: Bool) throws -> [Statement] {
        try check("check \(haveJoined ? "joined" : "left")", keys) { isOwned in
            "\(try keyCondition()) AND (\(isOwned)) IS \(haveJoined ? "NOT " : "")TRUE"
        }
    }

    /// With rules, a query that fails unless all other members have left the owner.
    func checkOthers(_ keys: [ObjectKey]) throws -> [Statement] {
        try check("check others", keys) { "\($0) AND NOT \(try keyCondition())" }
    }

    private func check(
        _ shape: String, _ keys: [ObjectKey], absent: (String) throws -> String
    ) throws -> [Statement] {
        guard members.hasRules else { return [] }
        let text = try members.text("\(shape) \(columns)") {
            let isOwned = try members.equality(columns, alias: "t", firstParameter: members.key.count + 1)
            return try members.absence(of: try absent(isOwned))
        }
        var bindings = Bindings()
        try KeySet.append(keys, members.attributes(members.key), to: &bindings)
        try members.append(ownerValues, for: columns, to: &bindings)
        return [Statement(text: text, bindings: bindings, resultFormat: .binary)]
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
    /// - Parameter change: takes the number of the first parameter that `bind` appends.
    private func guarded(
        _ shape: String, _ keys: [ObjectKey], versions: [PostgresValue?]?, change: (Int) throws -> Change,
        bind: (inout Bindings) throws -> Void
    ) throws -> Statement {
        let isVersioned = members.version != nil && versions != nil
        let keyCount = isVersioned ? members.versionedKey.count : members.key.count
        let text = try members.text("\(shape) \(isVersioned)") {
            let change = try change(keyCount + 2)
            let condition = "\(change.condition) AND (SELECT count(*) FROM locked) = $\(keyCount + 1)"
            let locked = """
                WITH locked AS MATERIALIZED (\
                SELECT 1 FROM \(try members.quotedName) AS t WHERE \(try keyCondition())\
                \(isVersioned ? try versionCondition() : "") \
                FOR NO KEY UPDATE)
                """
            guard members.isChecked(.updateTriggers) else {
                let update = try members.update(
                    alias: "t", set: change.set, where: condition, returning: try members.selectList(alias: "t"))
                return """
                    \(locked), changed AS (\(update)) \
                    SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT JOIN changed ON true
                    """
            }
            // A foreign key inside the key changes that key.
            let update = try members.checkedUpdate(
                set: change.set, where: condition, isRight: change.isRight,
                keepsKeys: !joining.contains(where: members.key.contains))
            return """
                \(locked), \(update) SELECT \(try members.writtenColumns), present.count \
                FROM (SELECT count(*) FROM locked) AS present LEFT JOIN written ON true \
                WHERE \(CheckedWrite.condition())
                """
        }
        var bindings = Bindings()
        try KeySet.append(keys, members.attributes(members.key), to: &bindings)
        if isVersioned, let versions { try members.append(versions: versions, to: &bindings) }
        try bindings.append(.integer(Int64(keys.count)), as: .int8)
        try bind(&bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private func keyCondition() throws -> String {
        KeySet.condition(
            try members.key.map { "t.\(try members.quoted($0))" }, members.attributes(members.key), firstParameter: 1)
    }

    /// ` AND EXISTS (…)`: the rows have their expected versions.
    private func versionCondition() throws -> String {
        let columns = try members.versionedKey.map { "t.\(try members.quoted($0))" }
        return " AND " + KeySet.exists(columns, members.attributes(members.versionedKey), firstParameter: 1)
    }

    private func values(for joining: [Int]) -> [PostgresValue?] {
        joining.map { column in columns.firstIndex(of: column).map { ownerValues[$0] } }
    }
}
