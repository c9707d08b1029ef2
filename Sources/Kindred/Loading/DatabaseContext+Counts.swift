import KindredPostgres
import KindredSchema

// Small questions about a set that is not loaded.
extension DatabaseContext {
    /// `SELECT count(*)` over the rows that make the relationship.
    func countMembers(of relationship: RelationshipRuntime, owner: DatabaseObject) async throws -> Int {
        guard let rows = try linkRows(relationship, owner) else { return 0 }
        let text = try rows.entity.text("count \(rows.columns)") {
            """
            SELECT count(*) FROM \(try rows.entity.quotedName) \
            WHERE \(try rows.entity.equality(rows.columns, firstParameter: 1))
            """
        }
        let statement = Statement(text: text, bindings: rows.bindings, resultFormat: .binary)
        let result = try await client.execute(statement, for: rows.entity.name)
        guard case .integer(let count) = try result.first?[0] else { return 0 }
        return Int(count)
    }

    /// `SELECT EXISTS` of any member, or of one.
    func hasMember(
        of relationship: RelationshipRuntime,
        owner: DatabaseObject,
        member: DatabaseObject?
    ) async throws -> Bool {
        guard var rows = try linkRows(relationship, owner) else { return false }
        var memberColumns: [Int] = []
        if let member {
            let row = member.storedRow
            switch relationship.link {
            case .helper(let link):
                memberColumns = link.destinationColumns
                try rows.entity.append(try link.destination.map { try row[$0] }, for: memberColumns, to: &rows.bindings)
            case .referenced, .foreignKey:
                memberColumns = rows.entity.key
                try rows.entity.append(try memberColumns.map { try row[$0] }, for: memberColumns, to: &rows.bindings)
            }
        }
        let columns = rows.columns + memberColumns
        let text = try rows.entity.text("exists \(columns)") {
            """
            SELECT EXISTS (SELECT FROM \(try rows.entity.quotedName) \
            WHERE \(try rows.entity.equality(columns, firstParameter: 1)))
            """
        }
        let statement = Statement(text: text, bindings: rows.bindings, resultFormat: .binary)
        let result = try await client.execute(statement, for: rows.entity.name)
        return try result.first?[0] == .bool(true)
    }

    /// The rows that make the relationship, members' or the helper's, and the owner's values that select them.
    ///
    /// nil where the owner's referenced columns are NULL, so that nothing can reference it.
    private func linkRows(
        _ relationship: RelationshipRuntime,
        _ owner: DatabaseObject
    ) throws -> (entity: EntityRuntime, columns: [Int], bindings: Bindings)? {
        let entity: EntityRuntime
        let columns: [Int]
        switch relationship.link {
        case .helper(let link): (entity, columns) = (runtime.entities[link.entity], link.sourceColumns)
        case .referenced(_, let referencing):
            (entity, columns) = (runtime.entities[relationship.destination], referencing)
        case .foreignKey(_, let referenced):
            (entity, columns) = (runtime.entities[relationship.destination], referenced)
        }
        let row = owner.storedRow
        let values = try relationship.ownColumns.map { try row[$0] }
        guard !values.contains(nil) else { return nil }
        var bindings = Bindings()
        try entity.append(values, for: columns, to: &bindings)
        return (entity, columns, bindings)
    }
}
