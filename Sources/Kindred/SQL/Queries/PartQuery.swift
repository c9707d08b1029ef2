import KindredPostgres
import KindredSchema

/// A part of a to-many relationship: for each owner, the first members in an order that fulfil a condition.
///
/// One statement reads it for any number of owners.
package final class PartQuery: Sendable {
    /// Equal for parts with the same members in the same order, whatever their limits are.
    struct Key: Hashable, Sendable {
        private let relationship: RelationshipRuntime
        fileprivate let text: StatementText
        fileprivate let values: Bindings

        fileprivate init(_ relationship: RelationshipRuntime, _ statement: Statement) {
            self.relationship = relationship
            (text, values) = (statement.text, statement.bindings)
        }
    }

    let relationship: RelationshipRuntime
    /// The condition, order and limit.
    private let query: SelectQuery
    let key: Key
    /// The rows and columns that decide which members there are, and in which order.
    let reads: Reads

    /// The members that a query of the destination's rows finds among an owner's members.
    ///
    /// Throws `KindredError` `.invalidRequest` for a negative limit.
    init(
        _ relationship: RelationshipRuntime, _ query: SelectQuery, in schema: @autoclosure () -> DatabaseSchema
    ) throws {
        self.relationship = relationship
        self.query = query
        (key, reads) = try Self.whole(relationship, query, in: schema())
        if let limit {
            var parameters = Parameters()
            _ = try parameters.bind(limit, named: "limit", of: query.entity)
        }
    }

    /// The same part in another model of the database.
    ///
    /// Throws as `SelectQuery.rebound` does.
    func rebound(to runtime: SchemaRuntime, _ relationship: RelationshipRuntime) throws -> PartQuery {
        try PartQuery(relationship, try query.rebound(to: runtime), in: runtime.schema)
    }

    /// The key regardless of the order.
    func memberKey(in schema: DatabaseSchema) throws -> Key {
        var query = query
        query.limit = nil
        let purpose = RenderedTexts.Shape.Purpose.part(relationship, isSorted: false)
        if let known = query.rendered(purpose), let statement = try query.statement(known) {
            return Key(relationship, statement)
        }
        let (text, resolver) = try Self.text(relationship, query, for: [], in: schema, limit: nil, isSorted: false)
        query.keep(text, as: purpose, resolver)
        return Key(relationship, resolver.parameters.statement(text))
    }

    /// The key by the statement for no owner and without a limit, and the rows and columns that this statement reads.
    private static func whole(
        _ relationship: RelationshipRuntime, _ query: SelectQuery, in schema: @autoclosure () -> DatabaseSchema
    ) throws -> (key: Key, reads: Reads) {
        var query = query
        query.limit = nil
        let purpose = RenderedTexts.Shape.Purpose.part(relationship, isSorted: true)
        if let known = query.rendered(purpose), let reads = known.reads, let statement = try query.statement(known) {
            return (Key(relationship, statement), reads)
        }
        let schema = schema()
        let (text, resolver) = try text(relationship, query, for: [], in: schema, limit: nil)
        let reads = Reads(resolver.reads, partOf: relationship, in: schema)
        query.keep(text, as: purpose, resolver, reads: reads)
        return (Key(relationship, resolver.parameters.statement(text)), reads)
    }

    /// The greatest number of members of each owner.
    package var limit: Int? { query.limit }
    /// The statement for no owner and without a limit: equal for parts with the same members in the same order, in every process.
    package var statement: (text: String, values: Bindings) { (key.text.text, key.values) }

    /// Whether more than their owners decides which members there are, and in which order.
    package var isDecidedByValues: Bool { query.condition != nil || !query.sort.isEmpty }

    /// Whether the members have an order.
    var isSorted: Bool { !query.sort.isEmpty || relationship.position != nil }

    /// Whether a member can belong to several owners.
    var mayRepeatMembers: Bool { relationship.helper != nil || relationship.isComparedByServer }

    /// The part with the key behind its sort keys, so that each member has one place.
    package func sortedByKey(in schema: DatabaseSchema) throws -> PartQuery {
        // The order of an ordered relationship's members ends with the key.
        if query.sort.isEmpty, relationship.position != nil { return self }
        return try PartQuery(relationship, query.sortedByKey(in: schema), in: schema)
    }

    /// `SELECT` of the members' attributes, with the owner's place among the keys in the last column, counted from 1.
    ///
    /// Of each owner the members come in the part's order.
    ///
    /// - Parameter leftOut: the members' columns without values; nil for the lazy ones.
    func statement(
        for owners: [ObjectKey], leavingOut leftOut: ColumnSet? = nil, in schema: DatabaseSchema
    ) throws -> Statement {
        var query = query
        query.leftOut = leftOut
        let (text, resolver) = try Self.text(relationship, query, for: owners, in: schema, limit: limit)
        return resolver.parameters.statement(text)
    }

    private static func text(
        _ relationship: RelationshipRuntime, _ query: SelectQuery, for owners: [ObjectKey], in schema: DatabaseSchema,
        limit: Int?, isSorted: Bool = true
    ) throws -> (StatementText, ConditionResolver) {
        let (start, condition) = try query.begin(in: schema)
        var resolver = start
        let holder = relationship.helper == nil ? 0 : try resolver.pairedRow()
        let order = isSorted ? try order(query, relationship, holder: holder, resolver: &resolver) : []
        let (rows, columns) = (relationship.linkRows, relationship.linkColumns)
        let owners = try resolver.parameters.shardKeys(
            owners, of: columns, in: rows, by: relationship.comparison(of: columns))
        let alias = "t\(resolver.places[holder].alias ?? 0)"
        let link = try owners.equality(alias, to: "o") + owners.shard.clause(alias)
        let given = "\(owners.rows) WITH ORDINALITY AS o(\((owners.names + ["n"]).joined(separator: ", ")))"
        let selected = try query.columns
        var text: String
        if let limit {
            // For each owner apart: an index on the foreign key and the order gives the first members without the others.
            // A subquery with a limit is run for one owner after the other, so that its order stays.
            text = "SELECT s.*, o.n FROM \(given) CROSS JOIN LATERAL (SELECT \(selected) FROM "
            try query.writeRows(resolver, nil, to: &text)
            text += " WHERE \(link)"
            if let condition {
                text += " AND "
                try condition.writeClosed(to: &text)
            }
            text +=
                "\(try order.sql) LIMIT \(try resolver.parameters.bind(limit, named: "limit", of: query.entity))) AS s"
        } else {
            text = "SELECT \(selected), o.n FROM "
            try query.writeRows(resolver, nil, to: &text)
            text += " JOIN \(given) ON \(link)"
            if let condition {
                text += " WHERE "
                try condition.write(to: &text)
            }
            text += try order.sql
        }
        return (StatementText(text), resolver)
    }

    /// The keys of the order: the position and the key of an ordered relationship's members, unless the part is sorted.
    private static func order(
        _ query: SelectQuery, _ relationship: RelationshipRuntime, holder: Int, resolver: inout ConditionResolver
    ) throws -> [ResolvedSortKey] {
        guard query.sort.isEmpty, let position = relationship.position else { return try resolver.order(query.sort) }
        let name = relationship.linkRows.entity.attributes[position].name
        var keys = [
            ResolvedSortKey(value: try resolver.column(name, of: holder).value, direction: " NULLS LAST")
        ]
        for name in query.entity.identity {
            keys.append(ResolvedSortKey(value: try resolver.column(name, of: 0).value, direction: ""))
        }
        return keys
    }
}
