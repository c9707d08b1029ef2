/// A condition on the objects of an entity, whatever it was written in.
///
/// It is two-valued, as in Swift: a comparison with a missing value is false, except that `== nil` and `!=` take nil for
/// a value of its own, and the negation of a condition holds exactly where the condition does not.
public struct Condition: Sendable {
    package let node: ConditionNode

    package init(_ node: ConditionNode) {
        self.node = node
    }

    /// The condition that all of the given ones hold; true for none.
    package static func all(_ conditions: [Condition]) -> Condition {
        Condition(
            .all(
                conditions.flatMap { condition in
                    // Flat, so that a condition that is narrowed often does not become deep.
                    if case .all(let parts) = condition.node { parts } else { [condition.node] }
                }
            )
        )
    }

    /// The condition that any of the given ones holds; false for none.
    package static func any(_ conditions: [Condition]) -> Condition {
        Condition(
            .any(
                conditions.flatMap { condition in
                    if case .any(let parts) = condition.node { parts } else { [condition.node] }
                }
            )
        )
    }

    /// The condition that the given one does not hold.
    package static func not(_ condition: Condition) -> Condition {
        if case .not(let inner) = condition.node { return Condition(inner) }
        return Condition(.not(condition.node))
    }
}
