/// The members of a to-many relationship within a condition; conditions on them never repeat an object in the result.
///
/// Relationships of the members continue the path, as in `\.books.tags`.
@dynamicMemberLookup
public struct MemberColumns<Member: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath) {
        self.path = path
    }

    /// Whether a member fulfils a condition; all parts of the condition apply to the same member.
    public func contains(_ condition: (Columns<Member>) throws -> Condition) rethrows -> Condition {
        path.members(.anyMember, try members(condition))
    }

    /// Whether every member fulfils a condition; true without members.
    public func allSatisfy(_ condition: (Columns<Member>) throws -> Condition) rethrows -> Condition {
        path.members(.allMembers, try members(condition))
    }

    /// Whether no member fulfils a condition.
    public func none(_ condition: (Columns<Member>) throws -> Condition) rethrows -> Condition {
        path.members(.noMember, try members(condition))
    }

    /// Whether an object is a member.
    public func contains(_ object: Member) -> Condition {
        Condition(
            .comparison(ConditionComparison(path.expression, .equal, with: .object(object), quantifier: .anyMember)))
    }

    /// Whether there are no members.
    public var isEmpty: Condition {
        path.members(.noMember, MemberCondition(any: ConditionPath(path.scope, path.keys)))
    }

    /// The number of members.
    public var count: ColumnExpression<Int> {
        if case .path(let members) = path.expression { return ColumnExpression(.count(members)) }
        return ColumnExpression(path.expression)
    }

    /// The number of members that fulfil a condition.
    public func count(_ condition: (Columns<Member>) throws -> Condition) rethrows -> ColumnExpression<Int> {
        let condition = try members(condition)
        if case .path = path.expression { return ColumnExpression(.countWhere(condition)) }
        return ColumnExpression(path.expression)
    }

    /// The condition of a closure, which names a member's columns by a scope of its own.
    func members(_ condition: (Columns<Member>) throws -> Condition) rethrows -> MemberCondition {
        let scope = ColumnScope()
        return MemberCondition(
            on: ConditionPath(path.scope, path.keys), as: scope, try condition(Columns(of: scope)).node)
    }

    /// A to-one relationship of the members.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Member, ToOne<Target>>) -> MemberColumns<
        Target
    > {
        MemberColumns<Target>(path.appending(keyPath, of: Member.self))
    }

    /// An optional to-one relationship of the members.
    public subscript<Target: TypedObject>(
        dynamicMember keyPath: KeyPath<Member, ToOne<Target?>>
    ) -> MemberColumns<Target> {
        MemberColumns<Target>(path.appending(keyPath, of: Member.self))
    }

    /// A to-many relationship of the members.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Member, ToMany<Target>>) -> MemberColumns<
        Target
    > {
        MemberColumns<Target>(path.appending(keyPath, of: Member.self))
    }
}
