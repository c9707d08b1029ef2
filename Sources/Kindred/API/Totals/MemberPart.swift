import KindredPostgres

/// The members of a to-many relationship that fulfil a condition, within a closure: their number, a total of a value, or the
/// value of the only member.
///
/// ```swift
/// let forums = try await context.fetch(Forum.self)
///     .sorted(ascending: false) { $0.posts.where { $0.isPinned }.maximum { $0.createdAt } }
///     .all()
/// ```
///
/// Each is a subquery of the one statement.
public struct MemberPart<Member: TypedObject>: Sendable {
    let path: ColumnPath
    let members: MemberCondition

    /// The number of members.
    public var count: ColumnExpression<Int> { value(.count) }

    /// Whether there are no members.
    public var isEmpty: Condition { path.members(.noMember, members) }

    /// The sum of a value of the members; nil without members, and without values that are not nil.
    public func sum<Value: PostgresSummable>(
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value.Sum> { value(.total(try total(.sum, column))) }

    /// The mean of a value of the members; nil without members, and without values that are not nil.
    public func average<Value: PostgresSummable>(
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value.Mean> { value(.total(try total(.average, column))) }

    /// The smallest value of the members; nil without members, and without values that are not nil.
    public func minimum<Value>(
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value> { value(.total(try total(.minimum, column))) }

    /// The greatest value of the members; nil without members, and without values that are not nil.
    public func maximum<Value>(
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value> { value(.total(try total(.maximum, column))) }

    /// A value of the only member; nil without one: `forum.readers.where { $0.user == me }.only { $0.isMuted }`.
    ///
    /// The condition must compare the columns of a unique key with `==`, except the columns that the relationship itself fixes: the
    /// call that takes the closure throws `KindredError` `.invalidRequest` for a condition that may leave several members.
    public func only<Value>(
        _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> ColumnExpression<Value> { value(.only(try column(Columns(of: members.scope)).expression)) }

    private func total<Value>(
        _ function: AggregateTerm.Function, _ column: (Columns<Member>) throws -> ColumnExpression<Value>
    ) rethrows -> AggregateTerm {
        let argument = try column(Columns(of: members.scope)).expression
        return AggregateTerm(function, of: argument, label: function.rawValue)
    }

    /// - Parameter content: the value; an invalid path makes an invalid value.
    private func value<Value>(_ content: MemberValue.Content) -> ColumnExpression<Value> {
        guard case .path = path.expression else { return ColumnExpression(path.expression) }
        return ColumnExpression(.ofMembers(MemberValue(content, of: members)))
    }
}

extension MemberColumns {
    /// The members that fulfil a condition, for their number, their totals, or the value of the only one:
    /// `forum.posts.where { $0.isPinned }.maximum { $0.createdAt }`.
    public func `where`(_ condition: (Columns<Member>) throws -> Condition) rethrows -> MemberPart<Member> {
        MemberPart(path: path, members: try members(condition))
    }

    /// All members, for their totals: `forum.posts.all.maximum { $0.createdAt }`.
    public var all: MemberPart<Member> {
        MemberPart(path: path, members: MemberCondition(any: ConditionPath(path.scope, path.keys)))
    }
}
