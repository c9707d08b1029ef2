import KindredSchema

/// A condition on an entity's objects, written in any of the supported forms.
///
/// It is two-valued, as in Swift: a comparison with NULL is false, except that `== nil` and `!=` treat nil as a value,
/// and the negation of a condition is true exactly if the condition is false.
public struct Condition: Sendable {
    /// The levels of a condition that can be answered: functions that read a deeper condition would exhaust the stack.
    static let maximumNesting = 160

    package let node: ConditionNode

    /// A condition; a condition that is nested too deeply becomes invalid, and its request says so.
    package init(_ node: ConditionNode) {
        self.node = node.isNested(atMost: Self.maximumNesting) ? node : Self.tooDeep
    }

    private static let tooDeep = ConditionNode.comparison(
        ConditionComparison(
            .invalid(KindredError(.invalidCondition, "The condition is nested more than \(maximumNesting) deep")),
            .equal, with: .value(nil)))

    /// The conjunction of the given conditions; true for none.
    package static func all(_ conditions: [Condition]) -> Condition {
        let list = ConditionList(joining: conditions) { node in
            if case .all(let parts) = node { parts } else { nil }
        } group: {
            .all($0)
        }
        return Condition(.all(list))
    }

    /// The disjunction of the given conditions; false for none.
    package static func any(_ conditions: [Condition]) -> Condition {
        let list = ConditionList(joining: conditions) { node in
            if case .any(let parts) = node { parts } else { nil }
        } group: {
            .any($0)
        }
        return Condition(.any(list))
    }

    /// The negation of the given condition.
    package static func not(_ condition: Condition) -> Condition {
        if case .not(let inner) = condition.node { return Condition(inner) }
        return Condition(.not(condition.node))
    }
}

/// The condition that rows are the members of an owner's set.
struct OwnerCondition: Sendable {
    /// The relationship from a member to its owners.
    let inverse: Relationship
    let owner: any ObjectReference

    var condition: Condition {
        var comparison = ConditionComparison(.path(.own(inverse.name)), .equal, with: .object(owner))
        if inverse.isToMany {
            comparison.quantifier = .anyMember
            // The owner counts, whether its own filter shows it or not.
            comparison.isUnfiltered = true
        }
        return Condition(.comparison(comparison))
    }
}

/// A condition as a request was given it.
enum GivenCondition: Sendable {
    case tree(Condition)
    /// A format that was parsed before.
    case format(String, [ConditionArgument])
}

extension Condition {
    /// Whether both are true.
    public static func && (left: Condition, right: Condition) -> Condition { .all([left, right]) }

    /// Whether at least one is true.
    public static func || (left: Condition, right: Condition) -> Condition { .any([left, right]) }

    /// Whether the condition is false.
    public static prefix func ! (condition: Condition) -> Condition { .not(condition) }
}
