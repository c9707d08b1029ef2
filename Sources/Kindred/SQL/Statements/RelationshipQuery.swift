import KindredPostgres
import KindredSchema

/// The query that reads a relationship's members for any number of owners.
///
/// One text per relationship for any number of owners: their keys are one array parameter per key column.
struct RelationshipQuery {
    let destination: EntityRuntime
    /// Result columns that hold the owner's key.
    let ownerColumns: [Int]
    /// Whether these are extra columns after the destination's attributes.
    let hasOwnerColumns: Bool
    /// Whether a member can belong to several owners.
    let mayRepeatMembers: Bool
    private let keyAttributes: [Attribute]
    /// The owner's attributes that these refer to.
    private let ownAttributes: [Attribute]
    private let shape: String
    private let source: EntityRuntime
    private let makeText: @Sendable () throws -> String

    init(_ relationship: RelationshipRuntime) {
        let (source, destination) = (relationship.source, relationship.destination)
        self.source = source
        self.destination = destination
        shape = "load \(relationship.slot)"
        let (matched, matchedColumns) = (relationship.linkRows, relationship.linkColumns)
        var join: (@Sendable () throws -> String)?
        if let helper = relationship.helper {
            let (columns, memberColumns) = (helper.destinationColumns, relationship.otherColumns)
            let first = destination.entity.attributes.count
            ownerColumns = Array(first..<first + matchedColumns.count)
            join = {
                let pairs = try zip(columns, memberColumns).map {
                    "\(try matched.compared($0, alias: "h")) = \(try destination.compared($1, alias: "t"))"
                }
                return " JOIN \(try matched.ownTableName) AS h ON \(pairs.joined(separator: " AND "))"
            }
        } else {
            ownerColumns = matchedColumns
        }
        hasOwnerColumns = join != nil
        mayRepeatMembers = join != nil
        ownAttributes = relationship.ownColumns.map { source.entity.attributes[$0] }
        keyAttributes = matchedColumns.map { matched.entity.attributes[$0] }
        let alias = join == nil ? "t" : "h"
        let (attributes, hasOwnerColumns, joinText) = (keyAttributes, hasOwnerColumns, join)
        let position = relationship.position
        let isReferenced = relationship.holdsForeignKey || join != nil
        makeText = {
            var columns = try destination.selectList(alias: "t")
            let matchedNames = try matchedColumns.map { "\(alias).\(try matched.quoted($0))" }
            if hasOwnerColumns { columns += ", " + matchedNames.joined(separator: ", ") }
            var order = ""
            if let position {
                let ties = try destination.key.map { ", t.\(try destination.quoted($0))" }.joined()
                order = " ORDER BY \(alias).\(try matched.quoted(position)) NULLS LAST\(ties)"
            }
            return """
                SELECT \(columns) FROM \(try isReferenced ? destination.ownTableName : destination.quotedName) AS t\(try joinText?() ?? "") \
                WHERE \(KeySet.condition(matchedNames, attributes, firstParameter: 1))\(order)
                """
        }
    }

    /// `SELECT place`: the places, from one, of the foreign keys that the server holds equal to an owner's key.
    ///
    /// The key is compared as a column of the owner's table, with its type and collation.
    func comparison(of keys: [ObjectKey], with owner: ObjectKey) throws -> Statement {
        let own = ownAttributes
        let names = own.indices.map { "k\($0)" }
        let columns = try own.map { try SQLIdentifier.quote($0.name) }
        let text = """
            SELECT given.place FROM \(KeySet.rows(keyAttributes, firstParameter: 1)) \
            WITH ORDINALITY AS given(\((names + ["place"]).joined(separator: ", "))) \
            JOIN (SELECT \(columns.joined(separator: ", ")) FROM \(try source.quotedName) WHERE false \
            UNION ALL SELECT * FROM \(KeySet.rows(own, firstParameter: 1 + own.count))) \
            AS owner(\(names.joined(separator: ", "))) \
            ON \(names.map { "owner.\($0) = given.\($0)" }.joined(separator: " AND "))
            """
        var bindings = Bindings()
        try KeySet.append(keys, keyAttributes, to: &bindings)
        try KeySet.append([owner], own, to: &bindings)
        return Statement(text: StatementText(text), bindings: bindings, resultFormat: .binary)
    }

    func statement(for owners: [ObjectKey]) throws -> Statement {
        var bindings = Bindings()
        try KeySet.append(owners, keyAttributes, to: &bindings)
        return Statement(text: try source.text(shape, makeText), bindings: bindings, resultFormat: .binary)
    }
}
