import KindredPostgres
import KindredSchema

/// The statements that change which rows reference an owner: the write side of one-to-many and one-to-one
/// relationships, where the member rows hold the foreign key.
///
/// Members are locked and counted in the statement that changes them: if one of them is gone, none is changed.
struct MemberStatements {
    /// The object that the rows reference.
    let owner: DatabaseObject
    /// The entity whose rows hold the foreign key.
    let members: EntityRuntime
    let relationship: RelationshipRuntime
    /// The foreign key's columns in the member rows.
    let columns: [Int]
    /// The owner's values that they take.
    let ownerValues: [PostgresValue]

    /// The foreign key's columns that change when a member joins: all, or those that no key and no other foreign key
    /// shares, since a shared column such as a tenant's has to agree already.
    var joining: [Int] { members.ownColumns(of: columns) }

    /// `UPDATE member SET fk = owner WHERE key`: one member joins and leaves its old owner.
    func attachOne(_ member: DatabaseObject) throws -> Statement {
        let joining = joining
        let text = try members.text("attach 1 \(columns)") {
            """
            UPDATE \(try members.quotedName) AS t SET \(try assignments(joining, first: 1)) \
            WHERE \(try members.equality(members.versionedKey, alias: "t", firstParameter: joining.count + 1)) \
            RETURNING \(try members.selectList(alias: "t"))
            """
        }
        var bindings = Bindings()
        try members.append(values(for: joining), for: joining, to: &bindings)
        try owner.context.append(versionedKeyOf: member, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// Several members join; the answer's last column counts those that exist.
    func attach(_ objects: [DatabaseObject]) throws -> Statement {
        let joining = joining
        return try guarded("attach \(columns)", try objects.map(owner.context.requireKey), objects, joining.count) {
            first in
            let differs = try joining.enumerated().map {
                "t.\(try members.quoted($1)) IS DISTINCT FROM $\(first + $0)"
            }
            return """
                UPDATE \(try members.quotedName) AS t SET \(try assignments(joining, first: first)) \
                WHERE \(try keyCondition()) AND (\(differs.joined(separator: " OR ")))
                """
        } bind: {
            try members.append(values(for: joining), for: joining, to: &$0)
        }
    }

    /// Those of the members that reference the owner leave it; the answer's last column counts those that exist.
    func detach(_ objects: [DatabaseObject], leaving: [Int]) throws -> Statement {
        try detach(keys: try objects.map(owner.context.requireKey), objects, leaving: leaving)
    }

    /// The same by keys; without objects, in whatever versions the rows are.
    func detach(keys: [ObjectKey], _ objects: [DatabaseObject]? = nil, leaving: [Int]) throws -> Statement {
        try guarded("detach \(columns)", keys, objects, columns.count) { first in
            // `IS TRUE` keeps the server from looking for them among all members of the owner, which its statistics may not
            // know yet.
            """
            UPDATE \(try members.quotedName) AS t SET \(try nulls(leaving)) \
            WHERE \(try keyCondition()) AND (\(try members.equality(columns, alias: "t", firstParameter: first))) IS TRUE
            """
        } bind: {
            try members.append(ownerValues, for: columns, to: &$0)
        }
    }

    /// All members but the given ones leave the owner, provided that the given ones exist.
    func detachOthers(_ objects: [DatabaseObject], leaving: [Int]) throws -> Statement {
        try guarded("detach others \(columns)", try objects.map(owner.context.requireKey), objects, columns.count) {
            first in
            """
            UPDATE \(try members.quotedName) AS t SET \(try nulls(leaving)) \
            WHERE \(try members.equality(columns, alias: "t", firstParameter: first)) AND NOT \(try keyCondition())
            """
        } bind: {
            try members.append(ownerValues, for: columns, to: &$0)
        }
    }

    /// `UPDATE member SET fk = NULL WHERE fk = owner`: all members leave.
    func detachAll(leaving: [Int]) throws -> Statement {
        let text = try members.text("detach all \(columns)") {
            """
            UPDATE \(try members.quotedName) AS t SET \(try nulls(leaving)) \
            WHERE \(try members.equality(columns, alias: "t", firstParameter: 1)) \
            RETURNING \(try members.selectList(alias: "t"))
            """
        }
        var bindings = Bindings()
        try members.append(ownerValues, for: columns, to: &bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// A change of some members that happens only if all of them exist.
    ///
    /// The rows are locked first, which waits for whoever is deleting one; the count is exact after that.
    private func guarded(
        _ shape: String,
        _ keys: [ObjectKey],
        _ objects: [DatabaseObject]?,
        _ valueCount: Int,
        change: (Int) throws -> String,
        bind: (inout Bindings) throws -> Void
    ) throws -> Statement {
        let isVersioned = members.version != nil && objects != nil
        let keyCount = isVersioned ? members.versionedKey.count : members.key.count
        let text = try members.text("\(shape) \(isVersioned)") {
            """
            WITH locked AS MATERIALIZED (\
            SELECT 1 FROM \(try members.quotedName) AS t WHERE \(try keyCondition())\
            \(isVersioned ? try versionCondition() : "") \
            FOR NO KEY UPDATE), \
            changed AS (\(try change(keyCount + 2)) AND (SELECT count(*) FROM locked) = $\(keyCount + 1) \
            RETURNING \(try members.selectList(alias: "t"))) \
            SELECT changed.*, found.count FROM (SELECT count(*) FROM locked) AS found LEFT JOIN changed ON true
            """
        }
        var bindings = Bindings()
        try KeySet.append(keys, keyAttributes, to: &bindings)
        if isVersioned, let objects { try members.append(versionsOf: objects, to: &bindings) }
        try bindings.append(.integer(Int64(keys.count)), as: .int8)
        try bind(&bindings)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    private var keyAttributes: [Attribute] {
        members.key.map { members.entity.attributes[$0] }
    }

    private func keyCondition() throws -> String {
        KeySet.condition(try members.key.map { "t.\(try members.quoted($0))" }, keyAttributes, firstParameter: 1)
    }

    /// ` AND EXISTS (…)`: the rows have the versions that the objects were read with.
    private func versionCondition() throws -> String {
        let columns = try members.versionedKey.map { "t.\(try members.quoted($0))" }
        return " AND " + KeySet.exists(columns, members.attributes(members.versionedKey), firstParameter: 1)
    }

    /// A change of a row's foreign key counts its version up, so that who has read the row before notices.
    private func assignments(_ columns: [Int], first: Int) throws -> String {
        try columns.enumerated().map { "\(try members.quoted($1)) = $\(first + $0)" }.joined(separator: ", ")
            + members.versionAssignment(alias: "t")
    }

    private func nulls(_ columns: [Int]) throws -> String {
        try columns.map { "\(try members.quoted($0)) = NULL" }.joined(separator: ", ")
            + members.versionAssignment(alias: "t")
    }

    private func values(for joining: [Int]) -> [PostgresValue?] {
        joining.map { column in columns.firstIndex(of: column).map { ownerValues[$0] } }
    }
}

extension EntityRuntime {
    /// The columns of a foreign key that a row writes when it joins: all that can be written for a new row, else the key's
    /// own, since a shared or generated column has to agree already.
    func writtenColumns(of columns: [Int], isNew: Bool) -> [Int] {
        isNew ? writableColumns(of: columns) : ownColumns(of: columns)
    }

    /// The columns of a foreign key but for those that the database generates; all of them if it generates all.
    private func writableColumns(of columns: [Int]) -> [Int] {
        if generatedColumns.isEmpty { return columns }
        let writable = columns.filter { !generatedColumns.contains($0) }
        return writable.isEmpty ? columns : writable
    }

    /// The writable columns of a foreign key that neither the entity's key nor another foreign key shares; all of them if
    /// none is its own.
    func ownColumns(of key: [Int]) -> [Int] {
        let columns = writableColumns(of: key)
        let own = columns.filter { column in
            !self.key.contains(column)
                && !foreignKeys.contains { other in
                    other.ownColumns != key && other.ownColumns.contains(column)
                }
        }
        return own.isEmpty ? columns : own
    }

    /// The columns that become NULL when a row leaves a relationship: its own nullable ones.
    ///
    /// nil where there is none, because the relationship is required.
    func leavingColumns(of columns: [Int]) -> [Int]? {
        let nullable = ownColumns(of: columns).filter {
            !entity.attributes[$0].isNotNull && !entity.attributes[$0].isGenerated
        }
        return nullable.isEmpty ? nil : nullable
    }

    func requiredRelationship(_ key: String, _ columns: [Int], underlying: PostgresError? = nil) -> KindredError {
        let names = columns.map { entity.attributes[$0].name }.joined(separator: ", ")
        return KindredError(
            .requiredRelationship,
            "\(name) cannot leave \"\(key)\": \(names) may not be NULL; give the object another owner or delete it",
            entity: name.description,
            key: key,
            underlying: underlying
        )
    }
}
