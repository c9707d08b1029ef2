import KindredPostgres
import KindredSchema

/// The common part of queries whose statements differ in values alone, with the values of one query.
package struct QueryShape: Sendable {
    /// Equal for queries of one shape.
    package struct Key: Hashable, Sendable {
        fileprivate let text: StatementText
        fileprivate let types: [UInt32]
        /// The values that cannot be elements of an array: they have to be equal, too.
        fileprivate let fixed: [[UInt8]]
    }

    package let key: Key
    fileprivate let values: Bindings

    /// Whether one statement can ask for several queries of the shape.
    package var hasElements: Bool { values.slots.contains(where: \.isElement) }

    /// The shape of a query's statements among some keys.
    package init(_ query: SelectQuery, in schema: DatabaseSchema, of runtime: EntityRuntime) throws {
        let values = try query.begin(in: schema).0.parameters.bindings
        let fixed = values.slots.filter { !$0.isElement }
        self.values = values
        key = Key(
            text: try query.statement(in: schema, among: [], of: runtime).text,
            types: values.slots.map(\.type.rawValue),
            fixed: fixed.map { [UInt8](values.bytes[$0.offset..<$0.offset + max($0.length, 0)]) })
    }
}

extension SelectQuery {
    /// `SELECT` of the rows among some keys that fulfil the condition of any query of this query's shape.
    ///
    /// The last column has the places of these queries in the list of shapes, counted from 1.
    package func statement(
        in schema: DatabaseSchema, among keys: [ObjectKey], of runtime: EntityRuntime, forAll shapes: [QueryShape]
    ) throws -> Statement {
        var start = self.start(in: schema)
        start.parameters.areOfMany = true
        let given = try conjuncts.reduce(nil) { try ResolvedCondition($1, after: $0, start) }
        let (resolver, condition) = try filtered(given, start)
        var parameters = Parameters()
        let slots = shapes[0].values.slots
        let elements = slots.indices.filter { slots[$0].isElement }
        for position in slots.indices { try parameters.bindings.append(position, of: shapes.map(\.values)) }
        let keys = try parameters.keys(keys, of: runtime.key, in: runtime)
        let arrays = elements.map { "$\($0 + 1)" }.joined(separator: ", ")
        let names = elements.map { "p\($0 + 1)" }.joined(separator: ", ")
        var text = "SELECT \(try columns), m.n FROM "
        try RowSource(entity.name, entity, alias: 0, scope: .ofRequest).write(to: &text)
        // An aggregate, so that the server evaluates each condition once for a row.
        text += " CROSS JOIN LATERAL (SELECT array_agg(r.n) AS n FROM"
        text += " unnest(\(arrays)) WITH ORDINALITY AS r(\(names), n)"
        for join in resolver.joins[0] { try join.write(to: &text) }
        text += " WHERE "
        try (condition ?? .always).write(to: &text)
        text += ") AS m WHERE \(try keys.condition("t0")) AND m.n IS NOT NULL"
        return parameters.statement(StatementText(text))
    }
}

extension Bindings {
    /// Appends one parameter of many statements: as an array if an array can hold its type; else the first statement's
    /// value.
    fileprivate mutating func append(_ position: Int, of many: [Bindings]) throws {
        guard let type = many[0].slots[position].elementType else {
            return try append(many[0].slots[position], of: many[0])
        }
        try appendArray(count: many.count, of: type) { element, write in
            let (slot, bytes) = (many[element].slots[position], many[element].bytes)
            guard slot.length >= 0 else { return }
            bytes.withBytes { write($0.part(slot.offset..<slot.offset + slot.length)) }
        }
    }
}
