import KindredPostgres

/// One value of the members of a to-many relationship that fulfil a condition.
package struct MemberValue: Sendable {
    package enum Content: Sendable {
        /// Their number.
        case count
        /// A total of a value in each of them.
        case total(AggregateTerm)
        /// The value of the only member; NULL without one.
        case only(ConditionExpression)
    }

    package let members: MemberCondition
    /// Columns of the members' scope are a member's.
    package let content: Content

    package init(_ content: Content, of members: MemberCondition) { (self.content, self.members) = (content, members) }

    /// Its name in errors, as the text form writes it.
    var label: String {
        let path = members.members.keys.joined(separator: ".")
        return switch content {
        case .count: "\(path).@count"
        case .total(let total): "\(path).@\(total.label)"
        case .only: "one of \(path)"
        }
    }
}

extension ConditionExpression {
    /// The number of members that fulfil a condition.
    package static func countWhere(_ members: MemberCondition) -> ConditionExpression {
        .ofMembers(MemberValue(.count, of: members))
    }
}
