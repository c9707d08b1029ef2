/// The columns of a typed class within a condition: `{ $0.surname == "Smith" && $0.emails.contains { … } }`.
///
/// Each property of the class is found here under its own name: a column as a ``ColumnExpression``, a to-one
/// relationship as the columns of the object it leads to, a to-many relationship as ``MemberColumns``.
@dynamicMemberLookup
public struct Columns<Root: TypedObject>: Sendable {
    let path: ColumnPath

    init(_ path: ColumnPath = ColumnPath()) {
        self.path = path
    }

    /// A column.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// A column whose values may be NULL.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value?>) -> ColumnExpression<Value> {
        ColumnExpression(path.appending(keyPath, of: Root.self).expression)
    }

    /// The columns of the object at the other end of a to-one relationship.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Root, ToOne<Target>>) -> Columns<Target> {
        Columns<Target>(path.appending(keyPath, of: Root.self))
    }

    /// The columns of the object at the other end of a to-one relationship that may lead to none.
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
    /// Whether the relationship leads to this object, or to none for nil.
    public static func == (left: Columns, right: Root?) -> Condition {
        left.path.compare(.equal, right)
    }

    /// Whether the relationship leads to anything but this object, or to something for nil.
    public static func != (left: Columns, right: Root?) -> Condition {
        left.path.compare(.notEqual, right)
    }

    /// Whether both lead to the same object.
    public static func == (left: Columns, right: Columns) -> Condition {
        Condition(.comparison(ConditionComparison(left.path.expression, .equal, right.path.expression)))
    }

    /// Whether the relationship leads to one of these objects.
    public func isIn(_ objects: some Sequence<Root>) -> Condition {
        Condition(.comparison(ConditionComparison(path.expression, .isIn, .objects(Array(objects)))))
    }
}

/// The keys that lead to a column, or what is wrong with them.
struct ColumnPath: Sendable {
    private(set) var keys: [String] = []
    private var problem: KindredError?

    var expression: ConditionExpression { problem.map(ConditionExpression.invalid) ?? .path(keys) }

    func appending(_ keyPath: AnyKeyPath, of type: any TypedObject.Type) -> ColumnPath {
        var path = self
        if let key = type.mapping.key(keyPath) {
            path.keys.append(key)
        } else {
            path.problem = KindredError(
                .unknownKey,
                "\(keyPath) is no column or relationship of \(type.mapping.entity), so the database knows nothing of it",
                entity: type.mapping.entity.description
            )
        }
        return path
    }

    /// The keys.
    ///
    /// Throws what is wrong with them.
    func checkedKeys() throws -> [String] {
        if let problem { throw problem }
        return keys
    }

    /// A comparison with an object.
    func compare(_ operation: ConditionComparison.Operator, _ object: DatabaseObject?) -> Condition {
        let right = object.map { ConditionExpression.object($0) } ?? .value(nil)
        return Condition(.comparison(ConditionComparison(expression, operation, right)))
    }

    /// A condition on members; an impossible path makes an impossible condition.
    func members(_ quantifier: ConditionComparison.Quantifier, _ condition: ConditionNode) -> Condition {
        if problem != nil { return Condition(.comparison(ConditionComparison(expression, .equal, .value(nil)))) }
        return Condition(.members(quantifier, keys, condition))
    }
}
