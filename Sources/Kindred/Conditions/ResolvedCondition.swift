import KindredPostgres
import KindredSchema

/// A condition on an entity's rows whose keys and types have been checked, with its reads and its SQL.
///
/// A request resolves its condition once, where it is narrowed. Each of its statements begins with this SQL, and goes on
/// with the joins and parameters that it has.
package final class ResolvedCondition: Sendable {
    /// The conjunction in SQL.
    let sql: ConditionRenderer.Rendered
    /// The renderer after the condition, with its tables, joins and parameters.
    let renderer: ConditionRenderer
    private let conjuncts: [Condition]
    private let terms: [ConditionRenderer.Rendered]

    /// Throws `KindredError` `.unknownKey`, `.wrongType` or `.invalidCondition`.
    ///
    /// - Parameter earlier: the condition that this one is added to.
    init(_ condition: Condition, after earlier: ResolvedCondition?, _ start: ConditionRenderer) throws {
        var renderer = earlier?.renderer ?? start
        var terms = earlier?.terms ?? []
        // Flattened, so that a condition has the same text in one piece and in several.
        if case .all(let parts) = condition.node {
            for part in parts { terms.append(try renderer.condition(part)) }
        } else {
            terms.append(try renderer.condition(condition.node))
        }
        sql = .all(terms)
        conjuncts = (earlier?.conjuncts ?? []) + [condition]
        self.renderer = renderer
        self.terms = terms
    }

    /// The columns, tables and relationships that the condition reads.
    package var reads: ConditionReads { renderer.reads }

    /// What the condition is, if it is nothing but equalities of the row's own keys with values or objects; else nil.
    var equalities: [(path: [String], value: ConditionExpression)]? {
        var found: [(path: [String], value: ConditionExpression)] = []
        var nodes = conjuncts.map(\.node)
        while let node = nodes.popLast() {
            switch node {
            case .all(let parts): nodes += parts
            case .comparison(let comparison):
                guard comparison.operation == .equal, comparison.quantifier == nil, !comparison.ignoresCase
                else { return nil }
                switch (comparison.left, comparison.right) {
                case (.path(let path), let value), (let value, .path(let path)): found.append((path, value))
                default: return nil
                }
            default: return nil
            }
        }
        return found
    }

    /// The condition for a statement that is sent now: the keys of objects are those that they have now.
    func current() throws -> ResolvedCondition {
        guard renderer.comparesObjects else { return self }
        let start = ConditionRenderer(entity: renderer.places[0].entity, schema: renderer.schema)
        return try conjuncts.reduce(nil) { try ResolvedCondition($1, after: $0, start) } ?? self
    }
}
