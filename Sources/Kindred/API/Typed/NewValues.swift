public import KindredPostgres

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The initial values of a new object of a typed class, each under its property's name.
///
/// ```swift
/// let smith = try await context.create(Person.self) {
///     $0.surname = "Smith"
///     $0.born = nil
/// }
/// ```
///
/// Unset properties get the database's defaults. A to-one relationship whose foreign key the new row holds takes the
/// object itself.
@dynamicMemberLookup
public struct NewValues<Object: TypedObject> {
    private(set) var values: [PartialKeyPath<Object>: (any PropertyValue)?] = [:]

    /// The value of a column.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value? {
        get { (values[keyPath] ?? nil) as? Value }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// The value of a column that may be NULL.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, Value?>) -> Value? {
        get { (values[keyPath] ?? nil) as? Value }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// The value of a lazy column.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value>>) -> Value? {
        get { (values[keyPath] ?? nil) as? Value }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// The value of a lazy column that may be NULL.
    public subscript<Value: PropertyValue>(dynamicMember keyPath: KeyPath<Object, LazyAttribute<Value?>>) -> Value? {
        get { (values[keyPath] ?? nil) as? Value }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// A date of Foundation's for a column of moments.
    @_disfavoredOverload
    public subscript(dynamicMember keyPath: KeyPath<Object, PostgresTimestamp>) -> Date? {
        get { (values[keyPath] ?? nil) as? Date }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// A date of Foundation's for a column of moments that may be NULL.
    @_disfavoredOverload
    public subscript(dynamicMember keyPath: KeyPath<Object, PostgresTimestamp?>) -> Date? {
        get { (values[keyPath] ?? nil) as? Date }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// The object at the other end of a to-one relationship.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target>>) -> Target? {
        get { (values[keyPath] ?? nil) as? Target }
        set { values.updateValue(newValue, forKey: keyPath) }
    }

    /// The object at the other end of an optional to-one relationship.
    public subscript<Target: DatabaseObject>(dynamicMember keyPath: KeyPath<Object, ToOne<Target?>>) -> Target? {
        get { (values[keyPath] ?? nil) as? Target }
        set { values.updateValue(newValue, forKey: keyPath) }
    }
}

extension DatabaseContext {
    /// Stores a new row of a typed class and returns its object: `create(Person.self) { $0.surname = "Smith" }`.
    ///
    /// One INSERT … RETURNING. Throws as with a dictionary of values, and the errors of the closure.
    @discardableResult
    public func create<Object: TypedObject>(
        _ type: Object.Type,
        fileID: String = #fileID,
        line: Int = #line,
        with fill: (inout NewValues<Object>) throws -> Void
    ) async throws -> Object {
        var new = NewValues<Object>()
        try fill(&new)
        return try await create(type, new.values, fileID: fileID, line: line)
    }

    /// Makes a new object of a typed class in memory, to be stored by `save()`.
    ///
    /// Sends nothing. Throws as ``insert(_:_:)-(Object.Type,_)`` does, and the errors of the closure.
    @discardableResult
    public func insert<Object: TypedObject>(
        _ type: Object.Type,
        with fill: (inout NewValues<Object>) throws -> Void
    ) throws -> Object {
        var new = NewValues<Object>()
        try fill(&new)
        return try insert(type, new.values)
    }
}
