import KindredPostgres
import KindredSchema

/// The query that reads a relationship's members for any number of owners.
///
/// One text per relationship for any number of owners: their keys are one array parameter per key column.
struct RelationshipQuery {
    let destination: EntityRuntime
    /// Result columns that hold the owner's key.
    let ownerColumns: [Int]
    /// Whether a member can belong to several owners.
    let mayRepeatMembers: Bool
    private let relationship: RelationshipRuntime
    /// The rows that store the relationship, and their columns that refer to the owner.
    private let linkRows: EntityRuntime
    private let linkColumns: [Int]

    init(_ relationship: RelationshipRuntime) {
        self.relationship = relationship
        destination = relationship.destination
        (linkRows, linkColumns) = (relationship.linkRows, relationship.linkColumns)
        mayRepeatMembers = relationship.helper != nil
        let first = destination.entity.attributes.count
        ownerColumns = mayRepeatMembers ? Array(first..<first + linkColumns.count) : linkColumns
    }

    /// - Parameters:
    ///   - leftOut: the members' columns without values; nil for the lazy ones.
    ///   - lacking: columns without values, since the members' table may no longer have them.
    func statement(
        for owners: [ObjectKey], leavingOut leftOut: ColumnSet? = nil, lacking: ColumnSet = []
    ) throws -> Statement {
        var parameters = Parameters()
        let owners = try parameters.shardKeys(
            owners, of: linkColumns, in: linkRows, by: relationship.comparison(of: linkColumns))
        let isReferenced = relationship.holdsForeignKey || relationship.helper != nil
        let tables = isReferenced ? RowScope.Tables.own : .all
        // The one object at the other end is never hidden.
        let members =
            try relationship.isToMany
            ? parameters.shown(destination, as: .row, tables) : destination.all(as: .row, tables)
        let pairs = try relationship.helper.map { try parameters.shown($0.entity, as: .pair, .own) }
        let shape = "load \(relationship.slot)" + ColumnSet.shape(leftOut, lacking)
        return try parameters.statement(shape, in: relationship.source) {
            let columns = try destination.texts.selectList(alias: "t", leavingOut: leftOut, lacking: lacking)
            return try text(of: owners, members, through: pairs, columns)
        }
    }

    private func text(
        of owners: KeySet, _ members: ScopedRows, through rows: ScopedRows?, _ columnsOfMembers: String
    ) throws -> String {
        let alias = relationship.helper == nil ? "t" : "h"
        var columns = columnsOfMembers
        var (join, order) = ("", "")
        if let helper = relationship.helper, let rows {
            // The owner's key, in columns after the member's.
            for column in linkColumns {
                let isText = linkRows.entity.attributes[column].isReadAsText
                columns += ", h.\(try linkRows.texts.quoted(column))\(isText ? "::text" : "")"
            }
            join = try rows.join(on: try helper.isLinked("h", to: "t", of: relationship))
        }
        if let position = relationship.position {
            let ties = try destination.key.map { ", t.\(try destination.texts.quoted($0))" }.joined()
            order = " ORDER BY \(alias).\(try linkRows.texts.quoted(position)) NULLS LAST\(ties)"
        }
        return "SELECT \(columns) FROM \(try members.from(where: try owners.condition(alias), joining: join))\(order)"
    }

    /// `SELECT place`: the places, from one, of the foreign keys that the server holds equal to an owner's key.
    ///
    /// The key is compared as a column of the owner's table, with its type and collation.
    func comparison(of keys: [ObjectKey], with owner: ObjectKey) throws -> Statement {
        let (source, own) = (relationship.source, relationship.ownColumns)
        var parameters = Parameters()
        let keys = try parameters.keys(keys, of: linkColumns, in: linkRows)
        let owner = try parameters.keys([owner], of: own, in: source)
        let columns = try own.map { try source.texts.quoted($0) }
        let foreign = relationship.comparison(of: linkColumns)
        let isEqual = zip(own, owner.names).enumerated().map { place, pair in
            let (owner, given) = ("owner.\(pair.1)", "given.\(pair.1)")
            return foreign?.sql(at: place, given, owner) ?? source.texts.equality(of: pair.0, owner, given)
        }
        let text = """
            SELECT given.place FROM \(keys.rows) \
            WITH ORDINALITY AS given(\((owner.names + ["place"]).joined(separator: ", "))) \
            JOIN (SELECT \(columns.joined(separator: ", ")) FROM \(try source.all(as: .none, .all).fromNothing) \
            UNION ALL SELECT * FROM \(owner.rows)) AS owner(\(owner.names.joined(separator: ", "))) \
            ON \(isEqual.joined(separator: " AND "))
            """
        return parameters.statement(StatementText(text))
    }
}
