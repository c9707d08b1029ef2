import KindredPostgres

/// The new values of an update by condition, each under its property's name: `{ $0.stock = $0.stock - 1 }`.
///
/// A value may be calculated from the row's columns, which have the values from before the update, and from columns of
/// objects at the other ends of to-one relationships: `{ $0.stock = $0.stock - ($0.sold ?? 0); $0.label =
/// $0.category.name + "/" + $0.code }`.
@dynamicMemberLookup
public struct UpdatedValues<Object: TypedObject> {
    /// The scope of the row's columns.
    fileprivate let scope = ColumnScope()
    fileprivate var given: [(keyPath: PartialKeyPath<Object>, value: (any PropertyValue)?)] = []

    private var columns: Columns<Object> { Columns(of: scope) }

    /// A column, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> ColumnExpression<Value> {
        get { columns[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A column whose values may be NULL, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value?>) -> ColumnExpression<Value> {
        get { columns[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A lazy column, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> ColumnExpression<Value> {
        get { columns[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A lazy column whose values may be NULL, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> ColumnExpression<Value> {
        get { columns[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// The columns of the object at the other end of a to-one relationship, for calculations.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target>>) -> Columns<Target> {
        columns[dynamicMember: keyPath]
    }

    /// The columns of the object at the other end of an optional to-one relationship, for calculations.
    public subscript<Target: TypedObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target?>>) -> Columns<Target> {
        columns[dynamicMember: keyPath]
    }

    /// The members of a to-many relationship, for calculations.
    public subscript<Member: TypedObject>(
        dynamicMember keyPath: KeyPath<Object, ToMany<Member>>
    ) -> MemberColumns<Member> {
        columns[dynamicMember: keyPath]
    }
}

// Values of Swift's are given and never read: the rows' own are in the database, and differ.
extension UpdatedValues {
    /// A value for a column.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value? {
        @available(
            *, unavailable,
            message: "the values of rows are in the database: calculate with columns, by ??, + and others"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a column that may be NULL.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value?>) -> Value? {
        @available(
            *, unavailable,
            message: "the values of rows are in the database: calculate with columns, by ??, + and others"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a lazy column.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> Value? {
        @available(
            *, unavailable,
            message: "the values of rows are in the database: calculate with columns, by ??, + and others"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a lazy column that may be NULL.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> Value? {
        @available(
            *, unavailable,
            message: "the values of rows are in the database: calculate with columns, by ??, + and others"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }

    /// An object for a to-one relationship.
    @_disfavoredOverload
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target>>) -> Target? {
        @available(
            *, unavailable,
            message: "each row has an object of its own: calculate with columns of it, as in $0.club.name"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }

    /// An object for an optional to-one relationship; nil for none.
    @_disfavoredOverload
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target?>>) -> Target? {
        @available(
            *, unavailable,
            message: "each row has an object of its own: calculate with columns of it, as in $0.club.name"
        )
        get { nil }
        set { given.append((keyPath, newValue)) }
    }
}

extension FetchRequest where Object: TypedObject {
    /// Sets new values in the rows that the request selects: `update { $0.stock = $0.stock - 1 }`.
    ///
    /// One UPDATE. A value may be calculated from the row's columns, and from columns at the other ends of to-one
    /// relationships. A column has no value in Swift: a column that was made into a text is refused, `.wrongType`.
    /// Otherwise as `update` with values by name.
    @discardableResult
    public func update(
        fileID: String = #fileID, line: Int = #line, _ set: (inout UpdatedValues<Object>) throws -> Void
    ) async throws -> Int {
        return try await context.client.called(at: fileID, line) {
            var updates = UpdatedValues<Object>()
            try set(&updates)
            var named: [String: (any PropertyValue)?] = [:]
            for (keyPath, value) in updates.given {
                guard let key = Object.mapping.key(keyPath) else {
                    throw entity.unknownKey(String(describing: keyPath))
                }
                if let value, !(value is any CalculatedValue) { try ColumnMark.refuse(in: value.propertyContent) }
                let value =
                    (value as? any CalculatedValue).map { OwnCalculation(scope: updates.scope, value: $0) } ?? value
                named.updateValue(value, forKey: entity.relationship(ofProperty: key)?.model.name ?? key)
            }
            return try await update(named)
        }
    }
}

/// A calculation in which the columns of a scope belong to the row that is updated.
private struct OwnCalculation: CalculatedValue {
    let scope: ColumnScope
    let value: any CalculatedValue

    var propertyContent: DatabaseObject.PropertyContent { get throws { try value.propertyContent } }

    var calculation: ConditionExpression { get throws { .scoped(scope, try value.calculation) } }
}
