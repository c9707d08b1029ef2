import KindredPostgres
import Synchronization

/// The object that columns belong to: the object of the closure, or of the SUBQUERY's variable, that has given them.
///
/// A condition names columns of any object around it. Each closure that is called makes a scope of its own, so that a
/// column that was kept is never taken for another object's column.
package struct ColumnScope: Hashable, Sendable {
    private let number: UInt64

    /// The object of the request, whose columns a format names without a variable; in an entity's filter, the row
    /// itself.
    package static let own = ColumnScope(number: 0)

    private static let last = Atomic<UInt64>(0)

    private init(number: UInt64) { self.number = number }

    /// A scope that is equal to no other.
    package init() { number = Self.last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// The keys from the object of a scope to an attribute, an object, or the members of a to-many relationship; none for the
/// object itself.
package struct ConditionPath: Sendable {
    package var scope: ColumnScope
    package var keys: [String]

    package init(_ scope: ColumnScope, _ keys: [String]) { (self.scope, self.keys) = (scope, keys) }

    /// A path from the object of the request.
    package static func own(_ keys: String...) -> ConditionPath { ConditionPath(.own, keys) }
}

/// A condition on the members of a to-many relationship.
package struct MemberCondition: Sendable {
    /// The path to the members.
    package let members: ConditionPath
    /// The scope of a member.
    package let scope: ColumnScope
    package var condition: ConditionNode

    package init(on members: ConditionPath, as scope: ColumnScope, _ condition: ConditionNode) {
        (self.members, self.scope, self.condition) = (members, scope, condition)
    }

    /// The condition that holds for each member.
    package init(any members: ConditionPath) { self.init(on: members, as: ColumnScope(), .constant(true)) }
}
