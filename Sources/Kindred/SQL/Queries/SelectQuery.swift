package import KindredPostgres
package import KindredSchema

/// A SELECT over the rows of one entity: condition, order, offset and limit.
///
/// A value narrowed step by step. Queries of one shape have the same text for any values, so that they share a prepared
/// statement. Conditions never repeat a row.
package struct SelectQuery: Sendable {
    /// The entity whose rows are selected.
    package let entity: Entity
    /// The condition on the rows, beside that they are an owner's members; nil for all rows.
    package internal(set) var condition: ResolvedCondition?
    /// The set whose members the rows are; nil for other requests.
    var owner: OwnerCondition?
    /// The shapes of conditions that were resolved before; nil where none are kept.
    let shapes: ConditionShapes?
    /// The order; empty leaves it to the server.
    package var sort: [SortTerm] = []
    /// The order of an ordered relationship's members, which holds if `sort` is empty.
    var memberOrder: MemberOrder?
    /// The link to the helper's rows, if the rows are members of a many-to-many relationship.
    var pairLink: PairLink?
    /// The greatest number of rows.
    package var limit: Int?
    /// The number of rows skipped at the beginning.
    package var offset: Int?
    /// Whether the filter of the entity holds, and the filters of members in conditions.
    package var isFiltered = true
    /// The lock on the rows; nil for none.
    package var lock: (RowLock, RowLock.Waiting)?
    /// The keys of the rows, if they are known; the condition holds beside them.
    var keys: (entity: EntityRuntime, keys: [ObjectKey])?
    /// The columns without values; nil for the lazy ones.
    package var leftOut: ColumnSet?

    /// Selects the rows of an entity.
    package init(entity: Entity) {
        (self.entity, shapes) = (entity, nil)
    }

    /// Selects the rows of an entity, with the shapes of its schema.
    init(_ runtime: EntityRuntime) {
        (entity, shapes) = (runtime.entity, runtime.conditionShapes)
    }

    /// A resolver at the beginning of a statement.
    func start(in schema: DatabaseSchema) -> ConditionResolver {
        var resolver = ConditionResolver(entity: entity, schema: schema, isFiltered: isFiltered)
        resolver.pairLink = pairLink
        return resolver
    }

    /// A resolver that goes on behind the condition and the filter, and both of them.
    func begin(in schema: DatabaseSchema) throws -> (ConditionResolver, ConditionTerm?) {
        let (start, condition) = try filtered(try current(in: schema), start(in: schema))
        guard let keys else { return (start, condition) }
        var resolver = start
        let set = try resolver.parameters.shardKeys(keys.keys, of: keys.entity.key, in: keys.entity)
        return (resolver, condition.and(Self.condition(set)))
    }

    /// The condition for a statement that is sent now: objects in it are compared by their present keys.
    private func current(in schema: DatabaseSchema) throws -> ResolvedCondition? {
        if owner == nil {
            guard let shape = condition?.shape,
                shape.resolver.comparesObjects || shape.resolver.isFiltered != isFiltered
            else { return condition }
        }
        let start = start(in: schema)
        return try conjuncts.reduce(nil) { try ResolvedCondition($1, after: $0, start) }
    }

    /// Adds the entity's filter to a condition: the one place where a request gets it.
    ///
    /// - Parameter start: the resolver for a request without a condition.
    func filtered(
        _ condition: ResolvedCondition?, _ start: ConditionResolver
    ) throws -> (ConditionResolver, ConditionTerm?) {
        var resolver = condition?.resolver ?? start
        resolver.pairLink = start.pairLink
        guard let filter = try resolver.filter(at: 0) else { return (resolver, condition?.term) }
        return (resolver, condition.map { Optional($0.term).and(filter) } ?? filter)
    }

    /// `SELECT` of every attribute in the entity's order; a type without a codec is read as text.
    ///
    /// Throws `KindredError` `.invalidRequest` for a negative limit or offset.
    package func statement(in schema: @autoclosure () -> DatabaseSchema) throws -> Statement {
        try known(.rows) ?? statement(in: schema(), selecting: try columns, isSorted: true, as: .rows, locked)
    }

    /// The text with the query's lock, if it has one.
    func locked(_ text: String) -> String {
        guard let (lock, waiting) = lock else { return text }
        return "\(text) \(lock.rawValue) OF t0\(waiting.rawValue)"
    }

    /// `SELECT count(*)` of the rows that the query selects, limit and offset included.
    package func countStatement(in schema: @autoclosure () -> DatabaseSchema) throws -> Statement {
        if let known = try known(.count) { return known }
        guard limit != nil || offset != nil else {
            return try statement(in: schema(), selecting: "count(*)", isSorted: false, as: .count)
        }
        return try statement(in: schema(), selecting: "1", isSorted: false, as: .count) {
            "SELECT count(*) FROM (\($0)) AS c"
        }
    }

    /// `SELECT EXISTS`: whether the query selects any row.
    package func existsStatement(in schema: @autoclosure () -> DatabaseSchema) throws -> Statement {
        try known(.exists)
            ?? statement(in: schema(), selecting: "1", isSorted: false, as: .exists) { "SELECT EXISTS (\($0))" }
    }

    func statement(
        in schema: DatabaseSchema,
        selecting columns: String,
        isSorted: Bool,
        as purpose: RenderedTexts.Shape.Purpose? = nil,
        _ wrapped: (String) -> String = { $0 }
    ) throws -> Statement {
        try statement(in: schema, isSorted: isSorted, as: purpose, wrapped) { _ in Parts(columns: columns) }
    }

    /// The parts of a statement beside condition, order, limit and offset.
    struct Parts {
        /// Between SELECT and FROM.
        var columns: String
        /// A further condition on the rows.
        var condition: ConditionTerm?
        /// GROUP BY and HAVING, with a space before.
        var grouping = ""
    }

    func statement(
        in schema: DatabaseSchema,
        isSorted: Bool = true,
        as purpose: RenderedTexts.Shape.Purpose? = nil,
        _ wrapped: (String) -> String = { $0 },
        parts: (inout ConditionResolver) throws -> Parts
    ) throws -> Statement {
        let (start, condition) = try begin(in: schema)
        var resolver = start
        let parts = try parts(&resolver)
        let order = isSorted ? try order(&resolver) : []
        let rendered = resolver
        var text = "SELECT \(parts.columns) FROM "
        try writeRows(resolver, condition, further: parts.condition, to: &text)
        text += parts.grouping
        text += try order.sql
        if let limit { text += " LIMIT \(try resolver.parameters.bind(limit, named: "limit", of: entity))" }
        if let offset { text += " OFFSET \(try resolver.parameters.bind(offset, named: "offset", of: entity))" }
        let made = StatementText(wrapped(text))
        if let purpose { keep(made, as: purpose, rendered) }
        // Values without a binary form are selected as text, so the server need not be asked for the columns first.
        return resolver.parameters.statement(made)
    }

    /// Writes the FROM clause, from its first table on, and the WHERE clause.
    func writeRows(
        _ resolver: ConditionResolver, _ condition: ConditionTerm?, further: ConditionTerm? = nil,
        to text: inout String
    ) throws {
        try RowSource(entity.name, entity, alias: 0, scope: .ofRequest).write(to: &text)
        for join in resolver.joins[0] { try join.write(to: &text) }
        if condition != nil || further != nil { text += " WHERE " }
        if let further {
            if let condition {
                try condition.writeClosed(to: &text)
                text += " AND "
            }
            text += "("
            try further.write(to: &text)
            text += ")"
        } else {
            try condition?.write(to: &text)
        }
    }

    /// The keys of the order; none if it is left to the server.
    func order(_ resolver: inout ConditionResolver) throws -> [ResolvedSortKey] {
        if sort.isEmpty, let memberOrder { return try resolver.order(memberOrder) }
        return try resolver.order(sort)
    }

    /// The places that decide which rows the query selects, and in which order.
    func places(in schema: DatabaseSchema) throws -> ReadPlaces {
        var (resolver, _) = try begin(in: schema)
        _ = try order(&resolver)
        return resolver.reads
    }

    /// Every attribute in the entity's order, of the alias `t0`, and NULL in place of attributes that are left out.
    var columns: String { get throws { try Self.columns(of: entity, leavingOut: leftOut) } }

    /// Every attribute in the entity's order, of the alias `t0`; an attribute of a type without a codec as text, a lazy
    /// attribute without its value.
    package static func columns(of entity: Entity) throws -> String { try columns(of: entity, leavingOut: nil) }

    private static func columns(of entity: Entity, leavingOut leftOut: ColumnSet?) throws -> String {
        if leftOut != nil { return try rendered(entity, leavingOut: leftOut) }
        return try entity.columnList { try rendered(entity, leavingOut: nil) }
    }

    private static func rendered(_ entity: Entity, leavingOut leftOut: ColumnSet?) throws -> String {
        guard !entity.attributes.isEmpty else {
            throw KindredError(
                .invalidRequest,
                "\(entity.name) has no columns that may be read",
                entity: entity.name.description
            )
        }
        var list = ""
        for (column, attribute) in entity.attributes.enumerated() {
            if !list.isEmpty { list += ", " }
            let name = "t0.\(try SQLIdentifier.quote(attribute.name))"
            if leftOut?.contains(column) ?? attribute.isLazy {
                list += attribute.leftOut(name)
            } else {
                list += name
                if attribute.isReadAsText { list += "::text" }
            }
        }
        return list
    }
}
