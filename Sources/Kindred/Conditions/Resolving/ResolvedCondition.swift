import KindredPostgres
import KindredSchema

/// A condition on an entity's rows whose keys and types have been checked, with its reads.
///
/// A request resolves its condition once, where it is narrowed. Each of its statements goes on with the joins and
/// parameters that it has, and renders it together with the rest.
package final class ResolvedCondition: Sendable {
    /// The conjunction.
    let term: ConditionTerm
    /// The resolver after the condition, with its tables, joins and parameters.
    let resolver: ConditionResolver
    /// The conditions as they were given.
    let conjuncts: [Condition]
    private let terms: [ResolvedTerm]

    /// Throws `KindredError` `.unknownKey`, `.wrongType` or `.invalidCondition`.
    ///
    /// - Parameter earlier: the condition that this one is added to.
    init(_ condition: Condition, after earlier: ResolvedCondition?, _ start: ConditionResolver) throws {
        var resolver = earlier?.resolver ?? start
        var terms = earlier?.terms ?? []
        // Flattened, so that a condition has the same text in one piece and in several.
        if case .all(let parts) = condition.node {
            for part in parts { terms.append(try resolver.condition(part)) }
        } else {
            terms.append(try resolver.condition(condition.node))
        }
        term = ResolvedTerm.all(terms).term
        conjuncts = (earlier?.conjuncts ?? []) + [condition]
        self.resolver = resolver
        self.terms = terms
    }

    /// The columns, tables and relationships that the condition reads.
    package var reads: ConditionReads { resolver.reads }

    /// The condition as a list, if it is nothing but equalities of the row's own keys with values or objects; else nil.
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
    ///
    /// - Parameter isFiltered: whether members that their filter hides do not count.
    func current(isFiltered: Bool) throws -> ResolvedCondition {
        guard resolver.comparesObjects || resolver.isFiltered != isFiltered else { return self }
        var start = ConditionResolver(
            entity: resolver.places[0].entity, schema: resolver.schema, isFiltered: isFiltered)
        start.pairLink = resolver.pairLink
        return try conjuncts.reduce(nil) { try ResolvedCondition($1, after: $0, start) } ?? self
    }
}
