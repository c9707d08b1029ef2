import KindredPostgres

/// The new values of an update by condition, each under its property's name: `{ $0.stock = $0.stock - 1 }`.
///
/// A value may be calculated from the row's columns, which have the values from before the update.
@dynamicMemberLookup
public struct UpdatedValues<Object: TypedObject> {
    /// The scope of the row's columns.
    fileprivate let scope = ColumnScope()
    fileprivate var given: [(keyPath: PartialKeyPath<Object>, value: (any PropertyValue)?)] = []

    /// A column, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value>) -> ColumnExpression<Value> {
        get { Columns<Object>(of: scope)[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A column whose values may be NULL, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, Value?>) -> ColumnExpression<Value> {
        get { Columns<Object>(of: scope)[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A lazy column, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> ColumnExpression<Value> {
        get { Columns<Object>(of: scope)[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A lazy column whose values may be NULL, or a calculation with columns.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> ColumnExpression<Value> {
        get { Columns<Object>(of: scope)[dynamicMember: keyPath] }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a column; nil where none was given.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value? {
        get { value(keyPath) as? Value }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a column that may be NULL; nil where none was given.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value?>) -> Value? {
        get { value(keyPath) as? Value }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a lazy column; nil where none was given.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> Value? {
        get { value(keyPath) as? Value }
        set { given.append((keyPath, newValue)) }
    }

    /// A value for a lazy column that may be NULL; nil where none was given.
    @_disfavoredOverload
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> Value? {
        get { value(keyPath) as? Value }
        set { given.append((keyPath, newValue)) }
    }

    /// An object for a to-one relationship.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target>>) -> Target? {
        get { value(keyPath) as? Target }
        set { given.append((keyPath, newValue)) }
    }

    /// An object for an optional to-one relationship; nil for none.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target?>>) -> Target? {
        get { value(keyPath) as? Target }
        set { given.append((keyPath, newValue)) }
    }

    private func value(_ keyPath: PartialKeyPath<Object>) -> (any PropertyValue)? {
        given.last { $0.keyPath == keyPath }?.value
    }
}

extension FetchRequest where Object: TypedObject {
    /// Sets new values in the rows that the request selects: `update { $0.stock = $0.stock - 1 }`.
    ///
    /// One UPDATE. A value may be calculated from the row's columns. Otherwise as `update` with values
    /// by name.
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
                let value =
                    (value as? any CalculatedValue).map { OwnCalculation(scope: updates.scope, value: $0) } ?? value
                named.updateValue(value, forKey: entity.relationship(ofProperty: key)?.model.name ?? key)
            }
            return try await update(named)
        }
    }
}

/// A calculation in which the columns of a scope are those of the row that is updated.
private struct OwnCalculation: CalculatedValue {
    let scope: ColumnScope
    let value: any CalculatedValue

    var propertyContent: PropertyContent { get throws { try value.propertyContent } }

    var calculation: ConditionExpression { get throws { .scoped(scope, try value.calculation) } }
}
