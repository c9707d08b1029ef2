import KindredPostgres
import KindredSchema
import Synchronization

/// A condition that is resolved, apart from its values: all of one ``ConditionKey`` resolve to the same.
final class ConditionShape: Sendable {
    /// The conjunction.
    let term: ConditionTerm
    /// The resolver after the condition, with its tables and joins, and without parameters.
    let resolver: ConditionResolver
    /// Whether other conditions are found to be of the shape: each value is one parameter then.
    let isShared: Bool
    /// The texts of statements with the condition, if the shape is shared.
    let texts = RenderedTexts()
    private let terms: [ResolvedTerm]
    /// The other sides of the last condition's values.
    private let targets: [BoundTarget]

    /// Resolves a condition that is added to earlier conditions.
    ///
    /// - Parameter values: the number of its values, if its key is known.
    init(
        _ condition: Condition, after earlier: ConditionShape?, _ resolver: inout ConditionResolver, values: Int?
    ) throws {
        let (first, bound) = (resolver.parameters.next, resolver.bound.count)
        var terms = earlier?.terms ?? []
        // Flattened, so that a condition has the same text in one piece and in several.
        terms += try resolver.conjuncts(of: condition.node)
        term = ResolvedTerm.all(terms).term
        self.terms = terms
        let added = resolver.bound[bound...]
        targets = added.map(\.target)
        isShared =
            added.count == values && resolver.pairPlace == nil && earlier?.isShared != false
            && added.map(\.parameter) == Array(first..<resolver.parameters.next)
        var kept = resolver
        // The shape holds no values of one request, and no owner.
        (kept.parameters, kept.bound, kept.pairLink) = (Parameters(), [], nil)
        self.resolver = kept
    }

    /// Binds the values of a condition behind the values of earlier conditions; nil if a value is resolved to something
    /// else.
    ///
    /// Throws as resolving the condition does.
    func parameters(
        _ values: ConditionKey.Given, _ arguments: [ConditionArgument] = [], after earlier: Parameters?
    ) throws -> Parameters? {
        guard values.values.count == targets.count else { return nil }
        var parameters = earlier ?? Parameters()
        for (given, target) in zip(values.values, targets) {
            let value = given.argument.map { $0 < arguments.count ? arguments[$0] : given.value } ?? given.value
            guard try parameters.bind(value, as: target) else { return nil }
        }
        return parameters
    }
}

/// The shapes of conditions on an entity's rows that were resolved before, and sort keys that were checked.
final class ConditionShapes: Sendable {
    /// A condition and the earlier conditions that it is added to.
    private struct Step: Hashable {
        let earlier: ObjectIdentifier?
        let key: ConditionKey
    }

    /// A shape with the values that a format itself has.
    typealias Known = (shape: ConditionShape, given: ConditionKey.Given)

    /// The shape of earlier conditions is kept with the next condition's, so that no other object gets its identity.
    private let known = RankedMutex<[Step: (earlier: ConditionShape?, found: Known)]>([:], .text)
    /// Sort keys as they were given, and with the names of relationships.
    private let sortKeys = RankedMutex<[SortTerm: SortTerm]>([:], .text)
    /// The texts of statements without a condition.
    let texts = RenderedTexts()
    /// The limit of shapes, so that memory is bounded where programs write values into formats.
    private static let maximumShapes = 256

    func find(_ key: ConditionKey, after earlier: ConditionShape?) -> Known? {
        let step = Step(earlier: earlier.map(ObjectIdentifier.init), key: key)
        return known.withLock { $0[step]?.found }
    }

    /// Keeps a shape, if it is shared.
    func keep(_ found: Known, _ key: ConditionKey, after earlier: ConditionShape?) {
        guard found.shape.isShared else { return }
        let step = Step(earlier: earlier.map(ObjectIdentifier.init), key: key)
        known.withLock { known in
            if known.count >= Self.maximumShapes { known = [:] }
            known[step] = (earlier, found)
        }
    }

    /// A sort key by which rows can be sorted, with the names of relationships; nil if it is not known.
    func sorted(_ term: SortTerm) -> SortTerm? { sortKeys.withLock { $0[term] } }

    func keep(_ named: SortTerm, for term: SortTerm) {
        sortKeys.withLock { known in
            if known.count >= Self.maximumShapes { known = [:] }
            known[term] = named
        }
    }
}

extension EntityRuntime {
    /// The shapes of conditions on the entity's rows.
    var conditionShapes: ConditionShapes { kept { ConditionShapes() } }
}
