import KindredPostgres
import KindredSchema

/// A condition on an entity's rows whose keys and types have been checked, with its reads.
///
/// A request resolves its condition once, where it is narrowed. Each of its statements goes on with the joins and
/// parameters that it has, and renders it together with the rest.
package final class ResolvedCondition: Sendable {
    let shape: ConditionShape
    /// The values.
    let parameters: Parameters
    /// The conditions as they were given.
    let conjuncts: [GivenCondition]

    /// - Parameter earlier: the condition to which the new condition is added.
    init(
        _ added: GivenCondition, _ shape: ConditionShape, with parameters: Parameters, after earlier: ResolvedCondition?
    ) {
        (self.shape, self.parameters) = (shape, parameters)
        if let earlier { conjuncts = earlier.conjuncts + [added] } else { conjuncts = [added] }
    }

    /// Throws `KindredError` `.unknownKey`, `.wrongType` or `.invalidCondition`.
    ///
    /// - Parameter earlier: the condition to which the new condition is added.
    convenience init(
        _ condition: Condition, after earlier: ResolvedCondition?, _ start: ConditionResolver, values: Int? = nil
    ) throws {
        var resolver = earlier?.resolver ?? start
        resolver.pairLink = start.pairLink
        let shape = try ConditionShape(condition, after: earlier?.shape, &resolver, values: values)
        self.init(.tree(condition), shape, with: resolver.parameters, after: earlier)
    }

    /// The conjunction.
    var term: ConditionTerm { shape.term }

    /// The resolver after the condition, with its tables, joins and parameters.
    var resolver: ConditionResolver {
        var resolver = shape.resolver
        resolver.parameters = parameters
        return resolver
    }

    /// The columns, tables and relationships that the condition reads.
    package var reads: ReadPlaces { shape.resolver.reads }
}
