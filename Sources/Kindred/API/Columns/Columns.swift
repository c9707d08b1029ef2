import KindredPostgres

/// The columns of a typed class within a condition: `{ $0.surname == "Smith" && $0.emails.contains { … } }`.
///
/// Each property of the class has its own name here: a column is a ``ColumnExpression``, a to-one relationship the
/// columns of its object, a to-many relationship ``MemberColumns``.
///
/// A column belongs to the object whose closure gave it, so that a closure may also name the columns of closures around
/// it: `{ forum in forum.posts.contains { $0.updatedAt > forum.updatedAt } }`. A column that was kept for another
/// closure is an error, `KindredError` `.invalidCondition`, before anything is sent.
@dynamicMemberLookup
public struct Columns<Root: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath) {
        self.path = path
    }

    /// The columns of a scope's object.
    init(of scope: ColumnScope) {
        path = ColumnPath(scope)
    }

    /// A column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// A column whose values may be NULL.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value?>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// A lazy column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, LazyAttribute<Value>>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// A lazy column whose values may be NULL.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, LazyAttribute<Value?>>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// The columns of the object at the other end of a to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target>>) -> Columns<Target> {
        Columns<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of an optional to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target?>>) -> Columns<Target> {
        Columns<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The members of a to-many relationship.
    public subscript<Member: TypedObject>(
        dynamicMember keyPath: KeyPath<Root, ToMany<Member>>
    ) -> MemberColumns<Member> {
        MemberColumns<Member>(path.appending(keyPath, of: Root.self))
    }
}

extension Columns {
    /// Whether the relationship leads to this object; nil means no object.
    public static func == (left: Columns, right: Root?) -> Condition {
        left.path.compare(.equal, right)
    }

    /// Whether the relationship does not lead to this object; nil means any object.
    public static func != (left: Columns, right: Root?) -> Condition {
        left.path.compare(.notEqual, right)
    }

    /// Whether both lead to the same object.
    public static func == (left: Columns, right: Columns) -> Condition {
        Condition(.comparison(ConditionComparison(left.path.expression, .equal, with: right.path.expression)))
    }

    /// Whether they lead to two objects, or only one side leads to an object.
    public static func != (left: Columns, right: Columns) -> Condition { !(left == right) }

    /// Whether the relationship leads to one of these objects.
    public func isIn(_ objects: some Sequence<Root>) -> Condition {
        Condition(.comparison(ConditionComparison(path.expression, .isIn, with: .objects(Array(objects)))))
    }
}

/// The keys that lead to a column from the object of a scope, or the error of an invalid path.
struct ColumnPath: Sendable {
    let scope: ColumnScope
    private(set) var keys: [String]
    private var problem: KindredError?

    init(_ scope: ColumnScope, _ keys: [String] = []) { (self.scope, self.keys) = (scope, keys) }

    var expression: ConditionExpression {
        problem.map(ConditionExpression.invalid) ?? .path(ConditionPath(scope, keys))
    }

    func appending(_ keyPath: AnyKeyPath, of type: any TypedObject.Type) -> ColumnPath {
        var path = self
        if let key = type.mapping.key(keyPath) {
            path.keys.append(key)
        } else {
            path.problem = KindredError(
                .unknownKey,
                "\(keyPath) is not a column or relationship of \(type.mapping.entity)",
                entity: type.mapping.entity.description
            )
        }
        return path
    }

    /// The keys.
    ///
    /// Throws the error of an invalid path.
    func checkedKeys() throws -> [String] {
        if let problem { throw problem }
        return keys
    }

    /// The keys, of a path from the object of a scope.
    ///
    /// Throws the error of an invalid path, and for a path from another object.
    func checkedKeys(of scope: ColumnScope) throws -> [String] {
        guard self.scope == scope else { throw ConditionPath(self.scope, keys).notAround }
        return try checkedKeys()
    }

    /// A comparison with an object.
    func compare(_ operation: ConditionComparison.Operator, _ object: DatabaseObject?) -> Condition {
        let right = object.map { ConditionExpression.object($0) } ?? .value(nil)
        return Condition(.comparison(ConditionComparison(expression, operation, with: right)))
    }

    /// A condition on members; an invalid path makes an invalid condition.
    func members(_ quantifier: ConditionComparison.Quantifier, _ condition: MemberCondition) -> Condition {
        if problem != nil { return Condition(.comparison(ConditionComparison(expression, .equal, with: .value(nil)))) }
        return Condition(.members(quantifier, condition))
    }
}
